// The process's ranks, and windows that all of them have: data that each can reach by itself, such as a file.
#include "runtime/host/ranks.h"

#include <atomic>
#include <utility>

namespace strata::runtime {
namespace {

std::atomic<Ranks*> allRanks{nullptr};

/// What another backend has, in a window that other ranks have too.
class Everywhere final : public WindowBackend {
public:
  explicit Everywhere(std::unique_ptr<WindowBackend> own) : own_(std::move(own)) {}
  ~Everywhere() override {
    if (Ranks* all = ranks(); all && window_)
      all->closed(window_);
  }
  Everywhere(const Everywhere&) = delete;
  void knownAs(const void* window) { window_ = window; }
  void move(const WindowMove& move) override { own_->move(move); }
  void settle() override { own_->settle(); }
  bool isEverywhere() const override { return true; }

private:
  const std::unique_ptr<WindowBackend> own_;
  const void* window_ = nullptr;
};

} // namespace

Ranks* ranks() {
  return allRanks.load(std::memory_order_acquire);
}

void setRanks(Ranks* all) {
  allRanks.store(all, std::memory_order_release);
}

char* openEverywhere(int64_t bytes, std::unique_ptr<WindowBackend> backend, std::string_view description,
                     const char* what) {
  auto made = std::make_unique<Everywhere>(std::move(backend));
  Everywhere& everywhere = *made;
  char* window = openWindow(bytes, std::move(made), what);
  if (Ranks* all = ranks()) {
    everywhere.knownAs(window);
    all->openedData(window, bytes, description, what);
  }
  return window;
}

} // namespace strata::runtime
