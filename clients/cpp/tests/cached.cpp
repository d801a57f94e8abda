// What cached.hpp promises, under AddressSanitizer: cached ORIGIN [absent | churn]. The environment names the cache, and
// the origin has /a.png, /slow.png, which takes a part of a second, and nothing else.
#include "../cached.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace cached_client;
using namespace std::chrono_literals;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            std::exit(EXIT_FAILURE); \
        } \
    } while (false)

static cache opened() {
    auto cache = cache::open();
    CHECK(cache);
    cache->set_start(false);
    cache->set_patience(300ms);
    return *std::move(cache);
}

static image wait_for(cache &cache, bool (*condition)(const image &)) {
    while (true) {
        auto news = cache.next();
        CHECK(news);
        if (news->has_value() && condition(**news)) return **news;
        if (!news->has_value()) CHECK(cache.wait(60s));
    }
}

static bool is_decided(const image &image) { return image.is_decided(); }
static bool has_part(const image &image) { return image.received > 0 && !image.is_decided(); }
static bool has_failed(const image &image) { return image.state == state::failed; }

static void present(const std::string &origin) {
    cache cache = opened();
    const std::string url = origin + "/a.png", slow = origin + "/slow.png", none = origin + "/none.png";
    CHECK(cache.is_available());
    CHECK(cache.peek({.url = url})->state == state::missing);

    const auto image = cache.get({.url = url, .priority = priority::visible}, 60s);
    CHECK(image && image->state == state::here && image->media_type == "image/png" && image->width > 0);
    CHECK(image->path.ends_with(cache::name(url)));
    CHECK(cache.peek({.url = url})->identity != 0);
    const auto file = cache.open_file({.url = url});
    char head[8] = {};
    CHECK(file && ::read(file->descriptor(), head, 8) == 8 && std::string_view(head + 1, 3) == "PNG");

    const auto failed = cache.get({.url = none}, 60s);
    CHECK(!failed && failed.error().number == EIO && failed.error().kind() == "http");
    CHECK(failed.error().image->failure->http_status == 404 && failed.error().image->failure->retry_at);

    const auto late = cache.get({.url = slow}, 50ms);
    CHECK(!late && late.error().number == ETIMEDOUT && late.error().image->url == slow);

    CHECK(cache.add({.url = slow}));
    const auto half = wait_for(cache, has_part);
    CHECK(half.fraction() && *half.fraction() > 0 && *half.fraction() < 1);
    CHECK(wait_for(cache, is_decided).state == state::here);
    CHECK(cache.drop({.url = slow}));

    const wanted both[] = {{url, priority::background}, {none}};
    CHECK(cache.want(both));
    CHECK(wait_for(cache, has_failed).url == none);
    CHECK(cache.want({}));

    const std::string urls[] = {url, none};
    const auto states = cache.status(urls);
    CHECK(states && states->size() == 2 && states->at(0).state == state::here && states->at(1).state != state::here);
    CHECK(cache.pin({.url = url}) && cache.pin({.url = url}, false));
    CHECK(cache.pin({.url = none}).error().number == ENOENT);
    CHECK(cache.refresh({.url = url}, 60s));
    CHECK(cache.get({.url = url, .account = "ada"}, 60s) && cache.remove_account("ada"));
    CHECK(cache.peek({.url = url, .account = "ada"})->state == state::missing);
    CHECK(cache.remove({.url = slow}) && cache.peek({.url = slow})->state == state::missing);
    CHECK(cache.pressure() == pressure::normal);
}

static void texts() {
    CHECK((request{.url = "u#old", .account = "ada@home \xc3\xbc", .side = 200}.address() == "u#as=ada%40home%20%C3%BC&side=256"));
    CHECK((request{.url = "u", .side = 2049}.address() == "u"));
    cache cache = opened();
    const std::string zero("http://a/\0b", 11), header[] = {"a: b"}, broken[] = {std::string("a\0: b", 5)};
    CHECK(cache.peek({.url = zero}).error().number == EINVAL && cache.add({.url = zero}).error().number == EINVAL);
    CHECK(cache.status({&zero, 1}).error().number == EINVAL && cache.remove_account(zero).error().number == EINVAL);
    CHECK(!cache.add({.url = "http://a/b", .headers = header}));
    CHECK(!cache.add({.url = "http://a/b", .account = "ada", .headers = broken}));
    CHECK(cache.peek({.url = std::string(9000, 'x')})->failure->kind == "invalidURL");
}

static void fake() {
    auto cache = cache::open_fake();
    CHECK(cache);
    image half{.state = state::in_flight, .url = "u", .received = 1, .total = 4};
    image failed{.state = state::failed, .url = "u", .failure = failure{"http", "no", 404, {}}};
    CHECK(cache->fake_set(half) && cache->fake_set(failed) && cache->add({.url = "u"}));
    CHECK((*cache->next())->fraction() == 0.25);
    CHECK((*cache->next())->failure->http_status == 404);
    CHECK(!cache->next()->has_value());
}

static void absent(const std::string &origin) {
    cache cache = opened();
    CHECK(!cache.is_available());
    CHECK(cache.get({.url = origin + "/a.png"}, 60s));
    CHECK(cache.get({.url = origin + "/b.png"}, 60s).error().kind() == "noDaemon");
    CHECK(cache.add({.url = origin + "/b.png"}));
    CHECK(wait_for(cache, is_decided).failure->kind == "noDaemon");
    CHECK(!cache.pin({.url = origin + "/a.png"}));
}

// Handles that are moved and closed in every state, while the daemon is killed.
static void churn(const std::string &origin) {
    for (int round = 0; round < 300; round++) {
        cache first = opened();
        CHECK(first.add({.url = origin + "/slow.png?" + std::to_string(round)}));
        for (int turn = 0; turn < round % 5; turn++) {
            first.wait(1ms);
            CHECK(first.next());
        }
        cache second = std::move(first);
        first = opened();
        CHECK(second.next());
        if (round == 20) std::puts("killable"), std::fflush(stdout);
    }
}

int main(int count, char **words) {
    CHECK(count >= 2);
    const std::string origin = words[1], mode = count > 2 ? words[2] : "";
    if (mode == "absent") absent(origin);
    else if (mode == "churn") churn(origin);
    else present(origin), texts(), fake();
}
