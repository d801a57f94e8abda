// The images of `cached`, the image cache of this machine: cached.h for C++20. Header only; link with libcached.
//
// Nothing throws but what std::string and std::vector throw. A call that can fail returns a result, which is its value or
// an error. Threads: a cache is used by one thread at a time; different threads can use different ones.
#pragma once

#include <cached.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace cached_client {

using milliseconds = std::chrono::milliseconds;

// What the cache has of an image; cached.h has their meaning.
enum class state : int32_t { missing = CACHED_MISSING, in_flight = CACHED_IN_FLIGHT, here = CACHED_HERE, failed = CACHED_FAILED };
enum class priority : int32_t { background = CACHED_BACKGROUND, normal = CACHED_NORMAL, visible = CACHED_VISIBLE };
enum class pressure : int { normal = CACHED_PRESSURE_NORMAL, warning = CACHED_PRESSURE_WARNING, critical = CACHED_PRESSURE_CRITICAL };

// Why an image did not come.
struct failure {
    // A word for programs, such as http or noDaemon, and a sentence for people.
    std::string kind{}, message{};
    // The answer of the origin; 0 if there is none.
    int http_status = 0;
    // When the daemon asks again, if the image is still wanted then.
    std::optional<std::chrono::sys_seconds> retry_at{};
};

// What is known of an image.
struct image {
    cached_client::state state = state::missing;
    std::string url{};
    // The file of an image that is here. Empty if this program cannot see it, as in a sandbox: cache::open opens it.
    std::string path{};
    std::string media_type{};
    // In pixels, as a viewer shows the image; 0 if unknown.
    int width = 0, height = 0;
    // Bytes. The total is absent while it is unknown.
    int64_t received = 0;
    std::optional<int64_t> total{};
    // Why it has failed, or why an image that is here could not be refreshed.
    std::optional<cached_client::failure> failure{};
    // Another number if another file is behind the name; 0 if there is none.
    uint64_t identity = 0;
    // The largest smaller variant that is cached, to be shown meanwhile; empty if there is none.
    std::string stand_in{};

    // The received share, from 0 to 1; absent while the total is unknown.
    std::optional<double> fraction() const {
        if (!total || *total <= 0) return std::nullopt;
        return std::clamp(double(received) / double(*total), 0.0, 1.0);
    }
    // Whether no more news comes unless the image changes.
    bool is_decided() const { return state == state::here || state == state::failed; }
};

// Why a call failed.
struct error {
    // An errno; ETIMEDOUT if an image did not come in time, and EIO if it has failed.
    int number = 0;
    std::string message{};
    // Of a failed image, or of one that did not come in time.
    std::optional<cached_client::image> image{};

    // The word of a failed image, such as http; empty for other errors.
    std::string_view kind() const { return image && image->failure ? std::string_view(image->failure->kind) : std::string_view(); }
};

// A value, or the error that came instead: what std::expected is in C++23. One of nothing has std::monostate.
template <typename Value = std::monostate> class [[nodiscard]] result {
public:
    result(Value value) : content(std::in_place_index<0>, std::move(value)) {}
    result(cached_client::error error) : content(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return content.index() == 0; }
    explicit operator bool() const { return has_value(); }
    // Only if there is a value.
    Value &operator*() & { return *std::get_if<0>(&content); }
    const Value &operator*() const & { return *std::get_if<0>(&content); }
    Value &&operator*() && { return std::move(*std::get_if<0>(&content)); }
    Value *operator->() { return std::get_if<0>(&content); }
    const Value *operator->() const { return std::get_if<0>(&content); }
    // Only if there is none.
    const cached_client::error &error() const { return *std::get_if<1>(&content); }
    template <typename Other> Value value_or(Other &&other) const {
        return has_value() ? **this : static_cast<Value>(std::forward<Other>(other));
    }

private:
    std::variant<Value, cached_client::error> content;
};

// A descriptor that closes itself.
class file {
public:
    explicit file(int descriptor = -1) : number(descriptor) {}
    file(file &&other) noexcept : number(other.release()) {}
    file &operator=(file &&other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~file() { reset(); }

    int descriptor() const { return number; }
    // Gives it to the caller, who closes it.
    int release() { return std::exchange(number, -1); }

private:
    void reset(int descriptor = -1) {
        if (number >= 0) ::close(number);
        number = descriptor;
    }
    int number;
};

// One image, and how it is wanted. `{.url = "https://example.com/a.jpg", .side = 256}`
struct request {
    std::string_view url;
    // The name of an account, whose images are its own; empty: that of everybody.
    std::string_view account{};
    // The pixels of the longer side, rounded up to 32, 64 and so on to 2048; 0, or more than 2048: the whole image.
    int side = 0;
    cached_client::priority priority = priority::normal;
    // The failed attempts after which it has failed; 0: as many as the daemon makes.
    int attempts = 0;
    // After which it fails with the kind deadline; 0: none.
    milliseconds timeout{0};
    // "Name: value" each, for the image of an account only.
    std::span<const std::string> headers{};
    // The media types that the caller can decode; empty: all.
    std::string_view accept{};

    // The URL of the variant: that of the image in its news.
    std::string address() const {
        if (account.empty() && (side <= 0 || side > 2048)) return std::string(url);
        std::string text(url.substr(0, url.find('#')));
        text += '#';
        if (!account.empty()) {
            text += "as=";
            for (const unsigned char byte : account) {
                const bool stands = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
                if (stands || std::strchr("-._~", byte)) {
                    text += char(byte);
                } else {
                    text += '%';
                    text += "0123456789ABCDEF"[byte >> 4];
                    text += "0123456789ABCDEF"[byte & 15];
                }
            }
        }
        if (side > 0 && side <= 2048) {
            int rounded = 32;
            while (rounded < side) rounded *= 2;
            if (!account.empty()) text += '&';
            text += "side=" + std::to_string(rounded);
        }
        return text;
    }
};

// An image of a set.
struct wanted {
    std::string_view url;
    cached_client::priority priority = priority::normal;
};

class cache {
public:
    // Opens the cache that every program uses, or the one with this directory and this socket.
    static result<cache> open(const char *directory = nullptr, const char *socket = nullptr) {
        return owning(::cached_open(directory, socket));
    }
    // A cache for tests, without a daemon, a directory and a network. It follows the script of fake_set.
    static result<cache> open_fake() { return owning(::cached_open_fake()); }

    // The name of a URL's file, with 36 characters. Needs nothing.
    static std::string name(std::string_view url) {
        char text[37] = {};
        ::cached_name(std::string(url).c_str(), text);
        return text;
    }

    // For how long the daemon may be away before images fail with the kind noDaemon; 30 s at first.
    void set_patience(milliseconds time) { ::cached_set_patience(handle.get(), clamped(time)); }
    // Whether a daemon is started if none answers.
    void set_start(bool start) { ::cached_set_start(handle.get(), start); }
    // Whether a daemon answers or could be started. Starts none, and waits for nothing.
    bool is_available() const { return ::cached_is_available(handle.get()) == 1; }

    // What the directory alone says, without the daemon, in some microseconds.
    result<image> peek(const request &request) const {
        return call(request, [this](const cached_request &one, cached_image &found) { return ::cached_peek(handle.get(), one.url, &found); });
    }
    // The states of many, by one call to the daemon, for which it waits up to five seconds.
    result<std::vector<image>> status(std::span<const std::string> urls) const {
        std::vector<const char *> texts;
        for (const std::string &url : urls) {
            if (hasNUL(url)) return problem(-EINVAL);
            texts.push_back(url.c_str());
        }
        std::vector<cached_image> found(texts.size(), cached_image(CACHED_IMAGE_INIT));
        const int number = ::cached_status(handle.get(), texts.data(), texts.size(), found.data());
        if (number < 0) return problem(number);
        std::vector<image> images;
        for (const cached_image &one : found) images.push_back(copy(one));
        return images;
    }

    // Wants one more image; one that is wanted already gets this priority and these options. Never waits.
    result<> add(const request &request) { return done(with(request, [this](const cached_request &one) { return ::cached_add(handle.get(), &one); })); }
    // Wants it no longer.
    result<> drop(const request &request) { return done(with(request, [this](const cached_request &one) { return ::cached_drop(handle.get(), one.url); })); }
    // Wants these images and no others; what was wanted before goes on. Never waits.
    result<> want(std::span<const wanted> images) {
        std::vector<std::string> texts;
        texts.reserve(images.size());
        std::vector<const char *> urls;
        std::vector<int32_t> priorities;
        for (const wanted &one : images) {
            if (hasNUL(one.url)) return problem(-EINVAL);
            urls.push_back(texts.emplace_back(one.url).c_str());
            priorities.push_back(int32_t(one.priority));
        }
        return done(::cached_want(handle.get(), urls.data(), priorities.data(), urls.size()));
    }

    // The descriptor to poll for input, in any event loop; it stays the same.
    int descriptor() const { return ::cached_fd(handle.get()); }
    // The next news of an image that is wanted, if there is some now. Never waits.
    result<std::optional<image>> next() {
        cached_image found = CACHED_IMAGE_INIT;
        const int number = ::cached_next(handle.get(), &found);
        if (number < 0) return problem(number);
        return number == 1 ? std::optional(copy(found)) : std::nullopt;
    }
    // Waits until there can be news, at most for this time; a negative time: for as long as it takes. For programs without
    // an event loop.
    bool wait(milliseconds time) const {
        const auto end = std::chrono::steady_clock::now() + time;
        while (true) {
            pollfd entry{descriptor(), POLLIN, 0};
            const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
            const int number = ::poll(&entry, 1, time.count() < 0 ? -1 : clamped(std::max(left, milliseconds(0))));
            if (number >= 0 || errno != EINTR) return number > 0;
        }
    }

    // Waits for one image, at most for this time; a negative time: for as long as it takes.
    result<image> get(const request &request, milliseconds time) { return fetch(request, time, ::cached_get); }
    // As get, but the origin is asked whether it has changed. With no time, the daemon goes on with the request.
    result<image> refresh(const request &request, milliseconds time) { return fetch(request, time, ::cached_refresh); }
    // The file of a cached image: by its path, else handed over by the daemon, for which it waits up to five seconds.
    result<file> open_file(const request &request) {
        const int number = with(request, [this](const cached_request &one) { return ::cached_open_file(handle.get(), one.url); });
        if (number < 0) return problem(number);
        return file(number);
    }

    // Protects an image from eviction, or ends that.
    result<> pin(const request &request, bool pinned = true) {
        return done(with(request, [this, pinned](const cached_request &one) { return ::cached_pin(handle.get(), one.url, pinned); }));
    }
    // Removes an image with the sizes made of it, and stops its download.
    result<> remove(const request &request) { return done(with(request, [this](const cached_request &one) { return ::cached_remove(handle.get(), one.url); })); }
    result<> remove_account(std::string_view account) {
        return hasNUL(account) ? done(-EINVAL) : done(::cached_remove_account(handle.get(), std::string(account).c_str()));
    }
    // Puts a whole image file under a URL, as `cachectl import` does, which it runs.
    result<> import_file(const request &request, const std::string &path) {
        return done(with(request, [&](const cached_request &one) { return ::cached_import(handle.get(), one.url, path.c_str()); }));
    }
    // The level of memory pressure, watched from the first call on. Call it after next.
    cached_client::pressure pressure() { return cached_client::pressure(::cached_pressure(handle.get())); }

    // Adds a state to the script of a fake.
    result<> fake_set(const image &image) {
        cached_image one = CACHED_IMAGE_INIT;
        const auto text = [](const std::string &from) { return from.empty() ? nullptr : from.c_str(); };
        one.state = int32_t(image.state);
        one.width = image.width, one.height = image.height;
        one.received = image.received, one.total = image.total.value_or(-1);
        one.url = image.url.c_str(), one.path = text(image.path), one.media_type = text(image.media_type);
        one.identity = image.identity, one.stand_in = text(image.stand_in);
        if (image.failure) {
            one.kind = image.failure->kind.c_str(), one.message = image.failure->message.c_str();
            one.http_status = image.failure->http_status;
            if (image.failure->retry_at) one.retry_at = image.failure->retry_at->time_since_epoch().count();
        }
        return done(::cached_fake_set(handle.get(), &one));
    }

private:
    struct closer {
        void operator()(::cached *open) const { ::cached_close(open); }
    };
    std::unique_ptr<::cached, closer> handle;

    explicit cache(::cached *open) : handle(open) {}
    static result<cache> owning(::cached *open) {
        if (!open) return problem(-errno);
        return cache(open);
    }

    static bool hasNUL(std::string_view text) { return text.find('\0') != text.npos; }
    static int clamped(milliseconds time) { return int(std::clamp<int64_t>(time.count(), -1, INT_MAX)); }
    static error problem(int number) { return {-number, std::strerror(-number), std::nullopt}; }
    static result<> done(int number) {
        if (number < 0) return problem(number);
        return std::monostate();
    }

    // Copies the texts, which live until the next call with the handle only.
    static image copy(const cached_image &from) {
        const auto text = [](const char *bytes) { return bytes ? std::string(bytes) : std::string(); };
        image to;
        to.state = cached_client::state(from.state);
        to.url = text(from.url), to.path = text(from.path), to.media_type = text(from.media_type);
        to.width = from.width, to.height = from.height, to.received = from.received;
        if (from.total >= 0) to.total = from.total;
        if (from.kind) {
            to.failure = failure{text(from.kind), text(from.message), from.http_status, std::nullopt};
            if (from.retry_at > 0) to.failure->retry_at = std::chrono::sys_seconds(std::chrono::seconds(from.retry_at));
        }
        to.identity = from.identity, to.stand_in = text(from.stand_in);
        return to;
    }

    // Calls with what C wants.
    template <std::invocable<const cached_request &> Call> static int with(const request &request, Call call) {
        const std::string url = request.address(), accept(request.accept);
        if (hasNUL(url) || hasNUL(accept) || std::ranges::any_of(request.headers, hasNUL)) return -EINVAL;
        std::vector<const char *> headers;
        for (const std::string &header : request.headers) headers.push_back(header.c_str());
        headers.push_back(nullptr);
        cached_request one = CACHED_REQUEST_INIT;
        one.url = url.c_str();
        one.priority = int32_t(request.priority);
        one.attempts = request.attempts;
        one.timeout = request.timeout.count();
        one.headers = request.headers.empty() ? nullptr : headers.data();
        one.accept = accept.empty() ? nullptr : accept.c_str();
        return call(one);
    }

    template <typename Call> static result<image> call(const request &request, Call call) {
        result<image> answer = problem(-EINVAL);
        with(request, [&](const cached_request &one) {
            cached_image found = CACHED_IMAGE_INIT;
            const int number = call(one, found);
            if (number >= 0) answer = copy(found);
            else answer = error{-number, std::strerror(-number), number == -ETIMEDOUT ? std::optional(copy(found)) : std::nullopt};
            return number;
        });
        return answer;
    }

    result<image> fetch(const request &request, milliseconds time, decltype(::cached_get) *function) {
        auto answer = call(request, [&](const cached_request &one, cached_image &found) {
            return function(handle.get(), &one, clamped(time), &found);
        });
        if (!answer || answer->state != state::failed) return answer;
        std::string message = answer->failure ? answer->failure->message : "the image has failed";
        return error{EIO, std::move(message), *std::move(answer)};
    }
};

} // namespace cached_client
