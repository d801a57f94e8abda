"""Many machines that share a store: the same load for real daemons and for a simulation of them."""
