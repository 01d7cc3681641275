#include "drain/processes/process_trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "line/json_line.hpp"
#include "trace/stamp.hpp"

namespace heapwise::bench {

namespace {

/// Behind the name of a trace: the file with what its addresses mean, while it is written.
constexpr const char* names_suffix = ".names";

} // namespace

process_trace::process_trace(trace_context& context, std::string path)
    : context_{context}, file_{std::move(path), context.budget, context.compressor} {}

void process_trace::begin(unsigned number, const process_identity& process, std::uint64_t start) {
  const process_entry& entry = context_.all.memory().processes[number];
  number_ = number;
  process_ = process;
  start_ = start;
  texts_ = context_.all.map_texts(number);
  end_ =
      std::make_unique<process_end>(process.id, entry.start_time.load(std::memory_order_relaxed));
  tables_ = std::make_unique<call_tables>();
  resolver_ = std::make_unique<resolver>(file_, tables_->sites, tables_->stacks, start,
                                         context_.time_shift);
  const image_log none{};
  is_kept_ = file_.ok() && file_.begin(about_json(context_.about, process,
                                                  texts_ != nullptr ? texts_->images : none));
  if (!is_kept_) file_.abandon();
}

std::uint64_t process_trace::drain(std::uint64_t horizon) {
  return context_.all.drain(number_, *tables_, horizon, *resolver_);
}

void process_trace::resume() {
  const call resumed{stamp_now(), 0, 0, 0, 0, 0, event_kind::resumed, 0};
  resolver_->take(resumed);
}

void process_trace::flush() {
  resolver_->flush();
  if (!is_kept_ || texts_ == nullptr) return;
  const maps_text& maps = texts_->maps;
  const std::uint32_t bytes = maps.bytes.load(std::memory_order_acquire);
  const std::string path = file_.path() + names_suffix;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  has_names_ = true;
  for (std::uint32_t done = 0; done < bytes;) {
    const ssize_t wrote = write(file, maps.text + done, bytes - done);
    if (wrote <= 0) break; // the trace itself says it if the disk is full
    done += static_cast<std::uint32_t>(wrote);
  }
  close(file);
}

void process_trace::finish(recording_end end) {
  if (has_names_) unlink((file_.path() + names_suffix).c_str());
  resolver_->give_up_waiting(UINT64_MAX);
  resolver_->flush();
  totals_ = resolver_->totals();
  end.threads = tables_->threads;
  std::string modules = "{}";
  if (texts_ != nullptr) {
    modules = modules_json(texts_->maps, tables_->sites);
    commands_ = commands_json(texts_->images);
    texts_->images.visit([&](const image_log::image& each) { program_ = each.program; });
    other_.decide(texts_->images, texts_->next);
    end.other_program = other_.json();
    rings::unmap_texts(std::exchange(texts_, nullptr));
  }
  summary_ = [this, end]() mutable {
    end.kept_events = file_.kept_events();
    end.windows = file_.windows();
    return summary_json(totals_, end, commands_);
  };
  if (is_kept_) file_.finish(modules, summary_);
  resolver_.reset();
  tables_.reset();
  end_.reset();
}

std::string process_trace::result_json() const {
  const std::string other = other_.json();
  std::string buffer(
      (file_.path().size() + program_.size()) * 6 + commands_.size() + other.size() + 1024, '\0');
  json_line line{buffer.data(), buffer.size()};
  line.open('{').key("trace").value(is_kept_ ? std::string_view{file_.path()} : "");
  line.field("pid", process_.id).field("parent", process_.parent);
  line.field("events", totals_.events).field("kept_events", file_.kept_events());
  line.field("blocks", totals_.blocks).field("bytes", file_.bytes());
  line.field("asked_bytes", totals_.bytes);
  line.key("program").value(program_).key("other_program").members(other);
  line.key("commands").members(commands_).close('}');
  return std::string{line.text()};
}

} // namespace heapwise::bench
