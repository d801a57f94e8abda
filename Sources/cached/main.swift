print("cached")
