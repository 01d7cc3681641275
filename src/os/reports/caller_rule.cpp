#include <cstddef>

#include "os/reports/caller_rule.hpp"

namespace heapwise::os {

namespace {

/// Reads numbers as DWARF writes them. Behind the end, all numbers are 0.
class table_reader {
 public:
  table_reader(const unsigned char* at, const unsigned char* end) noexcept : at_{at}, end_{end} {}

  [[nodiscard]] bool has_more() const noexcept { return at_ < end_; }
  [[nodiscard]] const unsigned char* at() const noexcept { return at_; }

  template <class Number>
  Number number() noexcept {
    Number value = 0;
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
      at_ = end_;
      return 0;
    }
    __builtin_memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t unsigned_leb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; has_more(); shift += 7) {
      const unsigned char byte = *at_++;
      if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) break;
    }
    return value;
  }
  std::int64_t signed_leb() noexcept {
    std::uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte = 0x80;
    while (has_more() && (byte & 0x80U) != 0) {
      byte = *at_++;
      if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40U) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }
  void skip(std::uint64_t bytes) noexcept {
    at_ = bytes < static_cast<std::uint64_t>(end_ - at_) ? at_ + bytes : end_;
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
};

/// Bytes of an address in a table (DW_EH_PE_*); 0 of those that have no fixed size.
unsigned address_bytes(unsigned char encoding) noexcept {
  switch (encoding & 0x07U) {
    case 0: // absolute
    case 4:
      return 8;
    case 2:
      return 2;
    case 3:
      return 4;
    default:
      return 0;
  }
}

/// A CIE: what the functions of an object file have in common.
struct common_part {
  bool is_known = false;
  bool has_more_data = false; ///< functions, too, have data that a reader may skip
  unsigned char encoding = 0; ///< of addresses
  std::uint64_t code_factor = 0;
  std::int64_t data_factor = 0;
  table_reader program{nullptr, nullptr};
};

/// The registers of x86-64 that lead to the caller, by their numbers in DWARF.
enum : std::uint64_t { frame_pointer_number = 6, stack_pointer_number = 7, return_number = 16 };

/// Operations of DWARF's expressions (DWARF 5, section 2.5.1).
enum : std::uint8_t { word_there = 0x06, from_frame_pointer = 0x76 }; // DW_OP_deref, DW_OP_breg6

/// Returns: the expression that comes next, which is then read.
[[nodiscard]] table_reader expression(table_reader& program) noexcept {
  const std::uint64_t bytes = program.unsigned_leb();
  const unsigned char* const begin = program.at();
  program.skip(bytes);
  return {begin, program.at()};
}

/// Whether an expression is the frame pointer's value.
[[nodiscard]] bool is_frame_pointer(table_reader expression) noexcept {
  return expression.number<std::uint8_t>() == from_frame_pointer && expression.signed_leb() == 0 &&
         !expression.has_more();
}

[[nodiscard]] common_part read_common_part(const unsigned char* at) noexcept {
  common_part part;
  std::uint32_t bytes = 0;
  __builtin_memcpy(&bytes, at, sizeof bytes);
  table_reader reader{at + sizeof bytes, at + sizeof bytes + bytes};
  const auto id = reader.number<std::uint32_t>();
  const auto version = reader.number<std::uint8_t>();
  const auto* letter = reinterpret_cast<const char*>(reader.at());
  while (reader.number<char>() != '\0') {
  }
  part.code_factor = reader.unsigned_leb();
  part.data_factor = reader.signed_leb();
  const std::uint64_t return_column =
      version == 1 ? reader.number<std::uint8_t>() : reader.unsigned_leb();
  if (id != 0 || (version != 1 && version != 3) || return_column != return_number) return part;
  if (*letter == 'z') {
    ++letter;
    part.has_more_data = true;
    const std::uint64_t data = reader.unsigned_leb();
    table_reader more{reader.at(), reader.at() + data};
    reader.skip(data);
    for (; *letter != '\0'; ++letter) {
      if (*letter == 'R') {
        part.encoding = more.number<unsigned char>();
      } else if (*letter == 'L') {
        more.skip(1);
      } else if (*letter == 'P') {
        const unsigned address = address_bytes(more.number<unsigned char>());
        if (address == 0) return part;
        more.skip(address);
      } else {
        return part; // 'S': the frame of a signal, in which no instruction calls
      }
    }
  } else if (*letter != '\0') {
    return part;
  }
  part.program = reader;
  part.is_known = address_bytes(part.encoding) != 0;
  return part;
}

/// Where a register is kept.
struct kept_register {
  enum class place : std::uint8_t { in_register, at_offset, at_frame_pointer, undefined, other };

  place where = place::in_register;
  std::int64_t offset = 0; ///< from the CFA

  friend bool operator==(const kept_register&, const kept_register&) = default;
};

struct table_row {
  bool has_base = false;
  bool base_is_in_memory = false; ///< the CFA is a word at `distance` from the register
  std::uint64_t base_register = 0;
  std::int64_t distance = 0;
  kept_register frame_pointer{};
  kept_register return_address{};

  void be_at(std::uint64_t number) noexcept {
    has_base = true;
    base_is_in_memory = false;
    base_register = number;
  }
  /// Only `*(frame pointer + distance)` is known.
  void be_at_word(table_reader expression) noexcept {
    base_is_in_memory = expression.number<std::uint8_t>() == from_frame_pointer;
    base_register = frame_pointer_number;
    distance = expression.signed_leb();
    has_base = base_is_in_memory && expression.number<std::uint8_t>() == word_there &&
               !expression.has_more();
  }
  [[nodiscard]] kept_register* kept_of(std::uint64_t number) noexcept {
    if (number == frame_pointer_number) return &frame_pointer;
    return number == return_number ? &return_address : nullptr;
  }
  void keep(std::uint64_t number, kept_register kept) noexcept {
    if (kept_register* const known = kept_of(number); known != nullptr) *known = kept;
  }
};

/// Executes the instructions of call frames (DWARF 5, section 6.4.2).
class table_machine {
 public:
  table_machine(const common_part& common, std::uint64_t begin) noexcept
      : common_{common}, location_{begin} {}

  /// Up to the row that holds at `address`. Returns false if there was an instruction that it does
  /// not know.
  bool run(table_reader program, std::uint64_t address) noexcept {
    while (program.has_more() && location_ <= address) {
      if (!step(program)) return false;
    }
    return true;
  }

  /// What is now in the row is what restored registers get.
  void end_common_part() noexcept { initial_ = row_; }
  [[nodiscard]] const table_row& row() const noexcept { return row_; }

 private:
  using place = kept_register::place;
  static constexpr unsigned most_remembered = 8;

  bool step(table_reader& program) noexcept;
  bool step_of_base(unsigned code, table_reader& program) noexcept;
  bool step_of_register(unsigned code, table_reader& program) noexcept;
  void advance(std::uint64_t units) noexcept { location_ += units * common_.code_factor; }
  [[nodiscard]] std::int64_t scaled(std::int64_t units) const noexcept {
    return units * common_.data_factor;
  }

  const common_part& common_;
  std::uint64_t location_;
  table_row row_{};
  table_row initial_{};
  table_row remembered_[most_remembered];
  unsigned remembered_count_ = 0;
};

bool table_machine::step(table_reader& program) noexcept {
  const unsigned code = program.number<std::uint8_t>();
  const unsigned low = code & 0x3FU;
  switch (code >> 6) {
    case 1: // advance_loc
      advance(low);
      return true;
    case 2: // offset
      row_.keep(low, {place::at_offset, scaled(static_cast<std::int64_t>(program.unsigned_leb()))});
      return true;
    case 3: // restore
      if (const kept_register* const known = initial_.kept_of(low); known != nullptr)
        row_.keep(low, *known);
      return true;
    default:
      break;
  }
  switch (code) {
    case 0x00: // nop
      return true;
    case 0x02: // advance_loc1
      advance(program.number<std::uint8_t>());
      return true;
    case 0x03: // advance_loc2
      advance(program.number<std::uint16_t>());
      return true;
    case 0x04: // advance_loc4
      advance(program.number<std::uint32_t>());
      return true;
    case 0x0A: // remember_state
      if (remembered_count_ == most_remembered) return false;
      remembered_[remembered_count_++] = row_;
      return true;
    case 0x0B: // restore_state
      if (remembered_count_ == 0) return false;
      row_ = remembered_[--remembered_count_];
      return true;
    case 0x2E: // GNU_args_size
      static_cast<void>(program.unsigned_leb());
      return true;
    default:
      return step_of_base(code, program) || step_of_register(code, program);
  }
}

/// An instruction that says where the CFA is.
bool table_machine::step_of_base(unsigned code, table_reader& program) noexcept {
  switch (code) {
    case 0x0C: // def_cfa
      row_.be_at(program.unsigned_leb());
      row_.distance = static_cast<std::int64_t>(program.unsigned_leb());
      return true;
    case 0x12: // def_cfa_sf
      row_.be_at(program.unsigned_leb());
      row_.distance = scaled(program.signed_leb());
      return true;
    case 0x0D: // def_cfa_register
      row_.be_at(program.unsigned_leb());
      return true;
    case 0x0E: // def_cfa_offset
      row_.distance = static_cast<std::int64_t>(program.unsigned_leb());
      return true;
    case 0x13: // def_cfa_offset_sf
      row_.distance = scaled(program.signed_leb());
      return true;
    case 0x0F: // def_cfa_expression
      row_.be_at_word(expression(program));
      return true;
    default:
      return false;
  }
}

/// An instruction that says where a register is kept.
bool table_machine::step_of_register(unsigned code, table_reader& program) noexcept {
  if (code == 0 || (code > 0x11 && code != 0x14 && code != 0x15 && code != 0x16)) return false;
  const std::uint64_t number = program.unsigned_leb();
  switch (code) {
    case 0x05: // offset_extended
      row_.keep(number,
                {place::at_offset, scaled(static_cast<std::int64_t>(program.unsigned_leb()))});
      return true;
    case 0x11: // offset_extended_sf
      row_.keep(number, {place::at_offset, scaled(program.signed_leb())});
      return true;
    case 0x06: // restore_extended
      if (const kept_register* const known = initial_.kept_of(number); known != nullptr)
        row_.keep(number, *known);
      return true;
    case 0x07: // undefined
      row_.keep(number, {place::undefined, 0});
      return true;
    case 0x08: // same_value
      row_.keep(number, {place::in_register, 0});
      return true;
    case 0x09: // register
    case 0x14: // val_offset
    case 0x15: // val_offset_sf
      static_cast<void>(program.unsigned_leb());
      row_.keep(number, {place::other, 0});
      return true;
    case 0x10: // expression
      row_.keep(
          number,
          {is_frame_pointer(expression(program)) ? place::at_frame_pointer : place::other, 0});
      return true;
    case 0x16: // val_expression
      program.skip(program.unsigned_leb());
      row_.keep(number, {place::other, 0});
      return true;
    default:
      return false;
  }
}

[[nodiscard]] caller_rule rule_of(const table_row& row) noexcept {
  using place = kept_register::place;
  constexpr caller_rule unknown{};
  constexpr std::int64_t word = 8;
  if (row.return_address.where == place::undefined) return {caller_rule::base::none, 0, 0};
  if (row.has_base && row.base_is_in_memory) {
    const bool is_known = row.frame_pointer.where == place::at_frame_pointer &&
                          row.return_address == kept_register{place::at_offset, -word} &&
                          row.distance >= INT32_MIN && row.distance <= INT32_MAX;
    return is_known ? caller_rule{caller_rule::base::word_at_frame_pointer,
                                  static_cast<std::int32_t>(row.distance), 0}
                    : unknown;
  }
  if (!row.has_base || row.return_address != kept_register{place::at_offset, -word}) return unknown;
  caller_rule rule{};
  if (row.base_register == stack_pointer_number) {
    rule.from = caller_rule::base::stack_pointer;
  } else if (row.base_register == frame_pointer_number) {
    rule.from = caller_rule::base::frame_pointer;
  } else {
    return unknown;
  }
  if (row.distance < word || row.distance > INT32_MAX) return unknown;
  rule.distance = static_cast<std::int32_t>(row.distance);
  if (row.frame_pointer.where == place::in_register) return rule;
  const std::int64_t offset = row.frame_pointer.offset;
  if (row.frame_pointer.where != place::at_offset || offset >= 0 || offset < INT16_MIN)
    return unknown;
  rule.kept_frame_pointer = static_cast<std::int16_t>(offset);
  return rule;
}

} // namespace

caller_rule read_caller_rule(const unsigned char* entry, std::uint64_t function,
                             std::uint64_t address) noexcept {
  std::uint32_t bytes = 0;
  __builtin_memcpy(&bytes, entry, sizeof bytes);
  constexpr std::uint32_t longer = UINT32_MAX;
  if (bytes == longer) return {};
  const unsigned char* const content = entry + sizeof bytes;
  table_reader reader{content, content + bytes};
  const common_part common = read_common_part(content - reader.number<std::int32_t>());
  if (!common.is_known) return {};
  reader.skip(std::uint64_t{2} * address_bytes(common.encoding)); // where it begins, its length
  if (common.has_more_data) reader.skip(reader.unsigned_leb());
  table_machine machine{common, function};
  if (!machine.run(common.program, address)) return {};
  machine.end_common_part();
  if (!machine.run(reader, address)) return {};
  return rule_of(machine.row());
}

} // namespace heapwise::os
