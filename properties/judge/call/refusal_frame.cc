// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/refusal_frame.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "properties/judge/memory/arena.h"
#include "reference/contract/owned_call.h"

namespace backgauge {
namespace {

// About 25 tensors with their names take 4 KiB.
constexpr std::size_t kCallBytes = std::size_t{1} << 16;

constexpr std::byte kCanary{0xa7};

// Where seq_len_max lies: at the end of what holds the call.
constexpr std::size_t kSeqLenMax = kCallBytes - sizeof(std::int64_t);

std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

}  // namespace

std::byte* RefusalFrame::Answer::data() const { return page + page_bytes() - size; }

RefusalFrame::RefusalFrame(std::size_t input_bytes) : input_bytes_(whole_pages(input_bytes)) {
  // Guard, call, guard, message, guard, plan, guard, inputs, guard.
  const std::size_t page = page_bytes(), closed = kCallBytes + input_bytes_;
  const std::size_t total = closed + 7 * page;
  const int file = memfd_create("backgauge-malformed", MFD_CLOEXEC);
  if (file < 0) throw std::bad_alloc();
  const auto map = [&](void* at, std::size_t bytes, int protection, int flags, std::size_t offset) {
    void* const mapped =
        mmap(at, bytes, protection, flags, (flags & MAP_ANONYMOUS) != 0 ? -1 : file, static_cast<off_t>(offset));
    return mapped == MAP_FAILED ? std::span<std::byte>() : std::span(static_cast<std::byte*>(mapped), bytes);
  };
  bool good = ftruncate(file, static_cast<off_t>(closed)) == 0;
  mapping_ = map(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
  alias_ = map(nullptr, closed, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
  good = good && !mapping_.empty() && !alias_.empty();
  if (good) {
    call_ = mapping_.data() + page;
    message_.page = call_ + kCallBytes + page;
    plan_.page = message_.page + 2 * page;
    inputs_ = plan_.page + 2 * page;
    good = !map(call_, kCallBytes, PROT_READ, MAP_SHARED | MAP_FIXED, 0).empty() &&
           !map(inputs_, input_bytes_, PROT_READ, MAP_SHARED | MAP_FIXED, kCallBytes).empty() &&
           mprotect(message_.page, page, PROT_READ | PROT_WRITE) == 0 &&
           mprotect(plan_.page, page, PROT_READ | PROT_WRITE) == 0;
  }
  close(file);
  if (!good) {
    for (const std::span<std::byte> each : {mapping_, alias_}) {
      if (!each.empty()) munmap(each.data(), each.size());
    }
    throw std::bad_alloc();
  }
  std::memset(alias_.data() + kCallBytes, OwnedCall::kFill, input_bytes_);
  for (const Answer& answer : {message_, plan_}) std::memset(answer.page, static_cast<int>(kCanary), page);
  watch_.emplace(mapping_);
}

RefusalFrame::~RefusalFrame() {
  watch_.reset();
  munmap(mapping_.data(), mapping_.size());
  munmap(alias_.data(), alias_.size());
}

const backgauge_call* RefusalFrame::call() const { return reinterpret_cast<const backgauge_call*>(call_); }

backgauge_message* RefusalFrame::message() const { return reinterpret_cast<backgauge_message*>(message_.data()); }

backgauge_plan* RefusalFrame::plan() const { return reinterpret_cast<backgauge_plan*>(plan_.data()); }

void RefusalFrame::load(const backgauge_call& call, std::span<const backgauge_tensor> inputs,
                        std::span<const backgauge_tensor> outputs, const std::int64_t* seq_len_max) {
  loaded_.assign(inputs.begin(), inputs.end());
  const auto* const from = reinterpret_cast<const std::byte*>(seq_len_max);
  for (backgauge_tensor& tensor : loaded_) {
    const auto* const data = static_cast<const std::byte*>(tensor.data);
    if (from == nullptr || data < from || data >= from + sizeof *seq_len_max) continue;
    tensor.data = call_ + kSeqLenMax + (data - from);
  }
  image_.emplace(call, loaded_, outputs, call_);
  if (image_->bytes().size() > kSeqLenMax) throw std::logic_error("a malformed call larger than its frame");
  std::ranges::copy(image_->bytes(), alias_.begin());
  if (seq_len_max != nullptr) std::memcpy(alias_.data() + kSeqLenMax, seq_len_max, sizeof *seq_len_max);
  for (const Answer& answer : {message_, plan_}) std::memset(answer.data(), 0, answer.size);
  plan()->struct_size = sizeof(backgauge_plan);
  frozen_.clear();
}

std::string RefusalFrame::text_of(const GuardHit& hit) const {
  const auto* const at = reinterpret_cast<const std::byte*>(hit.address);
  if (image_ && at >= call_ && at < call_ + image_->bytes().size()) return "wrote to " + image_->part_at(at - call_);
  if (at >= call_ && at < call_ + kCallBytes) {
    return at >= call_ + kSeqLenMax ? "wrote to the input seq_len_max" : "wrote past the end of the call";
  }
  if (at >= inputs_ && at < inputs_ + input_bytes_) {
    const backgauge_tensor* input = nullptr;  // the last one that begins before
    for (const backgauge_tensor& tensor : loaded_) {
      const auto* const data = static_cast<const std::byte*>(tensor.data);
      if (data >= inputs_ && data <= at && (input == nullptr || input->data < tensor.data)) input = &tensor;
    }
    return fmt::format("wrote to the input {}", input == nullptr || input->name == nullptr ? "" : input->name);
  }
  // A guard page: named by the pages that it follows.
  for (const Answer& answer : {message_, plan_}) {
    if (at < answer.page + page_bytes() || at >= answer.page + 2 * page_bytes()) continue;
    const auto size = static_cast<std::int64_t>(answer.size);
    return Violation{Violation::Kind::kPastEnd, hit.access, answer.name, at - answer.data(), size, false, true}.text();
  }
  return fmt::format("{} memory next to the call", verb_of(hit.access));
}

std::vector<std::string> RefusalFrame::touched(std::size_t from) const {
  std::vector<std::string> out;
  for (const GuardHit& hit : watch_->hits().subspan(from)) out.push_back(text_of(hit));
  for (const Answer& answer : {message_, plan_}) {
    const std::span<const std::byte> before(answer.page, answer.data());
    // All bytes are equal. There are thousands for each of thousands of calls, so one memcmp compares them with
    // themselves, shifted by one byte.
    if (before.front() == kCanary && std::memcmp(before.data(), before.data() + 1, before.size() - 1) == 0) continue;
    const auto last = std::ranges::find_if(before.rbegin(), before.rend(), [](std::byte b) { return b != kCanary; });
    if (last == before.rend()) continue;
    const auto size = static_cast<std::int64_t>(answer.size);
    out.push_back(Violation{Violation::Kind::kBeforeBeginning, Access::kWrite, answer.name,
                            -1 - (last - before.rbegin()), size, false, true}
                      .text());
  }
  return out;
}

std::vector<std::string> RefusalFrame::freeze() {
  const std::vector<std::string> out = touched(0);
  frozen_.assign(message_.data(), message_.data() + message_.size);
  frozen_hits_ = watch_->hits().size();
  return out;
}

std::vector<std::string> RefusalFrame::late_violations() const {
  std::vector<std::string> out;
  for (const std::string& text : touched(frozen_hits_)) out.push_back(text + " after the call had returned");
  if (!frozen_.empty() && !std::ranges::equal(frozen_, std::span(message_.data(), message_.size))) {
    out.push_back("wrote to the message after the call had returned");
  }
  return out;
}

}  // namespace backgauge
