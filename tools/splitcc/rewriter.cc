#include "tools/splitcc/rewriter.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/RecordLayout.h>
#include <clang/AST/StmtVisitor.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Lexer.h>
#include <clang/Tooling/Tooling.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace fairlead::splitcc {
namespace {

using clang::cast;
using clang::dyn_cast;
using clang::isa;

constexpr unsigned kGlobalSpace = 1;  // the address space of __sc_g

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// The front end's words, in those of the language.
std::string in_split_c(std::string text) {
  replace_all(text, "__attribute__((address_space(1)))", "global");
  replace_all(text, "__sc_g ", "global ");
  replace_all(text, " _Null_unspecified", "");
  replace_all(text, "(*)", "*");
  replace_all(text, "changes address space of pointer",
              "mixes a global and a local pointer (a cast, tolocal or toglobal converts them)");
  return text;
}

// Edits of a stretch of the text: what stands for it, from the places of what stands for its parts.
class Translation {
 public:
  Translation(clang::ASTContext& ast, const PlainC& program, std::size_t prefix,
              std::vector<std::string>& errors)
      : ast_(ast),
        sources_(ast.getSourceManager()),
        program_(program),
        prefix_(prefix),
        text_(sources_.getBufferData(sources_.getMainFileID())),
        errors_(errors) {}

  std::string run() {
    std::string out;
    std::size_t done = prefix_;
    for (const clang::Decl* const declared : ast_.getTranslationUnitDecl()->decls()) {
      const auto* const function = dyn_cast<clang::FunctionDecl>(declared);
      if (function == nullptr || !function->doesThisDeclarationHaveABody()) continue;
      const auto [first, end] = range(function->getBody());
      if (first < done || end <= first) continue;
      out += text_.substr(done, first - done);
      out += of(function->getBody());
      if (function->getName() == "splitc_main") end_main(*function, out);
      done = end;
    }
    out += text_.substr(done);
    return out;
  }

 private:
  struct Range {
    std::size_t first;
    std::size_t end;
  };

  std::size_t place(clang::SourceLocation at) const {
    return sources_.getFileOffset(sources_.getExpansionLoc(at));
  }
  Range range(const clang::Stmt* s) const {
    const clang::SourceLocation last = sources_.getExpansionLoc(s->getEndLoc());
    const clang::SourceLocation end =
        clang::Lexer::getLocForEndOfToken(last, 0, sources_, ast_.getLangOpts());
    return {place(s->getBeginLoc()), sources_.getFileOffset(end)};
  }
  std::string as_it_is(const Range& r) const {
    return std::string(text_.substr(r.first, r.end - r.first));
  }

  void fail(clang::SourceLocation at, const std::string& reason) {
    const clang::PresumedLoc where = sources_.getPresumedLoc(sources_.getExpansionLoc(at));
    errors_.push_back(fmt::format("{}:{}: error: {}", where.isValid() ? where.getFilename() : "?",
                                  where.isValid() ? where.getLine() : 0, reason));
  }

  // As in a main of C, the end of splitc_main without a return statement is success.
  void end_main(const clang::FunctionDecl& function, std::string& out) {
    if (function.getReturnType()->isVoidType()) {
      fail(function.getLocation(), "splitc_main returns an int");
    } else if (!out.empty() && out.back() == '}') {
      out.pop_back();
      out += " return 0; }";
    }
  }

  // --- What is global, what is spread.

  bool is_global(clang::QualType type) const {
    const clang::QualType canonical = ast_.getCanonicalType(type);
    const clang::LangAS space = canonical.getAddressSpace();
    return clang::isTargetAddressSpace(space) && clang::toTargetAddressSpace(space) == kGlobalSpace;
  }
  bool points_to_global(clang::QualType type) const {
    return type->isPointerType() && is_global(type->getPointeeType());
  }
  // A type that was written `T *spread`.
  bool is_spread_type(clang::QualType type) const {
    if (!points_to_global(type)) return false;
    const auto said = type->getNullability(ast_);
    return said && *said == clang::NullabilityKind::Unspecified;
  }
  static const clang::Expr* bare(const clang::Expr* e) { return e->IgnoreParens(); }
  // Without what the front end puts between.
  static const clang::Expr* inside(const clang::Expr* e) {
    for (;;) {
      e = e->IgnoreParens();
      const auto* const implicit = dyn_cast<clang::ImplicitCastExpr>(e);
      if (implicit == nullptr) return e;
      e = implicit->getSubExpr();
    }
  }
  // 0: no spread array by its name.
  int left_of(const clang::Expr* e) const {
    const auto* const named = dyn_cast<clang::DeclRefExpr>(inside(e));
    if (named == nullptr) return 0;
    const auto found =
        program_.spread_arrays.find(place(named->getDecl()->getLocation()) - prefix_);
    return found == program_.spread_arrays.end() ? 0 : found->second;
  }

  // Whether arithmetic with this pointer walks the processors.
  bool is_spread(const clang::Expr* e) const {
    e = bare(e);
    if (!points_to_global(e->getType())) return false;
    if (const auto* const implicit = dyn_cast<clang::ImplicitCastExpr>(e)) {
      const clang::Expr* const sub = implicit->getSubExpr();
      switch (implicit->getCastKind()) {
        case clang::CK_LValueToRValue:
          return is_spread_type(bare(sub)->getType());
        case clang::CK_ArrayToPointerDecay:
        case clang::CK_NullToPointer:
          return false;
        default:
          return is_spread(sub);
      }
    }
    if (const auto* const written = dyn_cast<clang::ExplicitCastExpr>(e)) {
      return is_spread_type(written->getTypeAsWritten());
    }
    if (const auto* const unary = dyn_cast<clang::UnaryOperator>(e)) {
      if (unary->getOpcode() == clang::UO_AddrOf) return is_block(unary->getSubExpr());
      if (unary->isIncrementDecrementOp())
        return is_spread_type(bare(unary->getSubExpr())->getType());
      return is_spread_type(e->getType());
    }
    if (const auto* const binary = dyn_cast<clang::BinaryOperator>(e)) {
      if (binary->isAssignmentOp()) return is_spread_type(bare(binary->getLHS())->getType());
      if (binary->isCommaOp()) return is_spread(binary->getRHS());
      return is_spread(binary->getLHS()) || is_spread(binary->getRHS());
    }
    if (const auto* const choice = dyn_cast<clang::ConditionalOperator>(e)) {
      return is_spread(choice->getTrueExpr()) || is_spread(choice->getFalseExpr());
    }
    if (const auto* const call = dyn_cast<clang::CallExpr>(e)) {
      return is_spread_type(call->getCallReturnType(ast_));
    }
    return is_spread_type(e->getType());
  }
  // Whether a place is just what a spread pointer points to, and not a part of it.
  bool is_block(const clang::Expr* e) const {
    e = bare(e);
    if (const auto* const unary = dyn_cast<clang::UnaryOperator>(e)) {
      return unary->getOpcode() == clang::UO_Deref && is_spread(unary->getSubExpr());
    }
    const Chain chain = chain_of(e);
    return chain.spread && chain.indices.size() == static_cast<std::size_t>(chain.left);
  }

  // `base[i][j]...`
  struct Chain {
    const clang::Expr* base = nullptr;
    std::vector<const clang::Expr*> indices;
    bool spread = false;
    int left = 0;  // so many of the indices choose a block
  };
  Chain chain_of(const clang::Expr* e) const {
    Chain chain;
    e = bare(e);
    while (const auto* const subscript = dyn_cast<clang::ArraySubscriptExpr>(e)) {
      chain.indices.push_back(subscript->getIdx());
      chain.base = bare(subscript->getBase());
      const auto* const implicit = dyn_cast<clang::ImplicitCastExpr>(chain.base);
      if (implicit == nullptr || implicit->getCastKind() != clang::CK_ArrayToPointerDecay) break;
      e = bare(implicit->getSubExpr());
    }
    std::reverse(chain.indices.begin(), chain.indices.end());
    if (chain.base == nullptr) return chain;
    chain.spread = is_spread(chain.base);
    chain.left = std::max(left_of(chain.base), 1);
    return chain;
  }

  // --- Text.

  // The text of a statement and all in it.
  std::string of(const clang::Stmt* s) {
    if (const auto* const e = dyn_cast<clang::Expr>(s)) return of_expression(e);
    return of_parts(s);
  }
  std::string of_parts(const clang::Stmt* s) { return of_parts(s, range(s)); }
  std::string of_parts(const clang::Stmt* s, const Range& whole) {
    std::vector<std::pair<Range, const clang::Stmt*>> parts;
    for (const clang::Stmt* const part : children_of(s)) {
      if (part == nullptr) continue;
      const Range r = range(part);
      if (r.first >= whole.first && r.end <= whole.end && r.first < r.end) {
        parts.emplace_back(r, part);
      }
    }
    std::sort(parts.begin(), parts.end(),
              [](const auto& a, const auto& b) { return a.first.first < b.first.first; });
    std::string out;
    std::size_t done = whole.first;
    for (const auto& [r, part] : parts) {
      if (r.first < done) continue;
      out += text_.substr(done, r.first - done);
      out += of(part);
      done = r.end;
    }
    out += text_.substr(done, whole.end - done);
    return out;
  }
  static std::vector<const clang::Stmt*> children_of(const clang::Stmt* s) {
    if (const auto* const list = dyn_cast<clang::InitListExpr>(s)) {
      const clang::InitListExpr* const written =
          list->isSemanticForm() && list->getSyntacticForm() != nullptr ? list->getSyntacticForm()
                                                                        : list;
      return {written->child_begin(), written->child_end()};
    }
    if (const auto* const choice = dyn_cast<clang::BinaryConditionalOperator>(s)) {
      return {choice->getCommon(), choice->getFalseExpr()};
    }
    return {s->child_begin(), s->child_end()};
  }

  std::string of_expression(const clang::Expr* e) {
    if (const auto* const implicit = dyn_cast<clang::ImplicitCastExpr>(e)) {
      const clang::Expr* const sub = implicit->getSubExpr();
      if (implicit->getCastKind() == clang::CK_LValueToRValue && is_global(sub->getType())) {
        return access("read", sub);
      }
      return of(sub);
    }
    if (const auto* const binary = dyn_cast<clang::BinaryOperator>(e)) return of_binary(binary);
    if (const auto* const unary = dyn_cast<clang::UnaryOperator>(e)) return of_unary(unary);
    if (isa<clang::ArraySubscriptExpr>(e)) return of_subscript(e);
    if (const auto* const written = dyn_cast<clang::CStyleCastExpr>(e)) return of_cast(written);
    return of_parts(e);
  }

  // A bit-field of a global structure, which has no address.
  static const clang::MemberExpr* bit_field(const clang::Expr* e) {
    const auto* const member = dyn_cast<clang::MemberExpr>(bare(e));
    if (member == nullptr) return nullptr;
    const auto* const field = dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    return field != nullptr && field->isBitField() ? member : nullptr;
  }
  std::uint64_t bits_before(const clang::FieldDecl& field) const {
    return ast_.getASTRecordLayout(field.getParent()).getFieldOffset(field.getFieldIndex());
  }
  // The structure, the field, and the bytes of the structure in which the field lies.
  std::string bit_field_text(const clang::MemberExpr* member) {
    const auto& field = *cast<clang::FieldDecl>(member->getMemberDecl());
    std::uint64_t first = bits_before(field);
    for (;;) {
      // A structure without a name has its members in the one around it.
      const auto* const around = dyn_cast<clang::MemberExpr>(bare(member->getBase()));
      if (around == nullptr) break;
      const auto* const unnamed = dyn_cast<clang::FieldDecl>(around->getMemberDecl());
      if (unnamed == nullptr || !unnamed->isAnonymousStructOrUnion()) break;
      first += bits_before(*unnamed);
      member = around;
    }
    const std::uint64_t end = first + field.getBitWidthValue(ast_);
    return fmt::format("({}({})), {}, {}, {}", member->isArrow() ? "*" : "", of(member->getBase()),
                       field.getName().str(), first / 8, (end + 7) / 8 - first / 8);
  }

  // The word for an access to a global place: of its value, or of a bit-field. `rest`: its further
  // parameters, each with a comma before it.
  std::string access(std::string_view word, const clang::Expr* place,
                     const std::string& rest = "") {
    if (const clang::MemberExpr* const member = bit_field(place)) {
      return fmt::format("__sc_bits_{}({}{})", word, bit_field_text(member), rest);
    }
    return fmt::format("__sc_{}(({}){})", word, of(place), rest);
  }

  std::string of_subscript(const clang::Expr* e) {
    const Chain chain = chain_of(e);
    if (!chain.spread) return of_parts(e);
    const auto left = static_cast<std::size_t>(chain.left);
    if (chain.indices.size() < left) {
      fail(e->getExprLoc(),
           fmt::format("the spread array has {} indices left of `::`, here are only {}", left,
                       chain.indices.size()));
      return of_parts(e);
    }
    std::string out = fmt::format("(*__sc_step{}(({})", left == 1 ? "" : fmt::format("_{}", left),
                                  of(chain.base));
    for (std::size_t i = 0; i < left; ++i) out += fmt::format(", ({})", of(chain.indices[i]));
    out += "))";
    for (std::size_t i = left; i < chain.indices.size(); ++i) {
      out += fmt::format("[{}]", of(chain.indices[i]));
    }
    return keep_lines(out, range(e));
  }
  // What lay between parts may have been left out: its lines have not.
  std::string keep_lines(std::string text, const Range& of_it) const {
    const std::string_view before = text_.substr(of_it.first, of_it.end - of_it.first);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const auto now = std::count(text.begin(), text.end(), '\n');
    if (lines > now) text.append(static_cast<std::size_t>(lines - now), '\n');
    return text;
  }
  std::string made(const clang::Expr* from, std::string text) const {
    return keep_lines(std::move(text), range(from));
  }

  void refuse_many(const clang::Expr* pointer) {
    if (left_of(pointer) > 1) {
      fail(pointer->getExprLoc(),
           "arithmetic with a spread array of several indices left of `::`: index it");
    }
  }

  std::string of_cast(const clang::CStyleCastExpr* e) {
    const clang::Expr* const sub = e->getSubExpr();
    const clang::QualType to = e->getType();
    const clang::QualType from = sub->getType();
    const std::string type = as_it_is({place(e->getLParenLoc()), place(e->getRParenLoc()) + 1});
    if (!to->isPointerType() || !from->isPointerType() ||
        points_to_global(to) == points_to_global(from) ||
        sub->isNullPointerConstant(ast_, clang::Expr::NPC_ValueDependentIsNull) !=
            clang::Expr::NPCK_NotNull) {
      return of_parts(e);
    }
    return made(
        e, fmt::format("({}{}({}))", type,
                       points_to_global(to) ? "fairlead_splitc_global" : "fairlead_splitc_local",
                       of(sub)));
  }

  std::string of_unary(const clang::UnaryOperator* e) {
    if (!e->isIncrementDecrementOp()) return of_parts(e);
    const clang::Expr* const sub = e->getSubExpr();
    const bool is_back = e->isDecrementOp();
    if (is_global(sub->getType())) {
      const char* const after = e->isPrefix() ? "" : "_after";
      if (is_spread_type(bare(sub)->getType())) {
        return made(e,
                    fmt::format("__sc_walk_there{}(({}), {})", after, of(sub), is_back ? -1 : 1));
      }
      return made(e,
                  access(fmt::format("update{}", after), sub,
                         fmt::format(", {}={}", is_back ? '-' : '+', e->isPrefix() ? ", 1" : "")));
    }
    if (is_spread_type(bare(sub)->getType())) {
      refuse_many(sub);
      return made(e, fmt::format("__sc_walk{}(({}), {})", e->isPrefix() ? "" : "_after", of(sub),
                                 is_back ? -1 : 1));
    }
    return of_parts(e);
  }

  std::string of_binary(const clang::BinaryOperator* e) {
    const clang::Expr* const a = e->getLHS();
    const clang::Expr* const b = e->getRHS();
    if (e->getOpcode() == clang::BO_Assign) return of_assignment(e);
    if (e->isCompoundAssignmentOp()) {
      if (is_global(a->getType())) {
        if (is_spread_type(bare(a)->getType())) {
          return made(e, fmt::format("__sc_walk_there(({}), {}(long)({}))", of(a),
                                     e->getOpcode() == clang::BO_SubAssign ? "-" : "", of(b)));
        }
        return made(e,
                    access("update", a, fmt::format(", {}, ({})", e->getOpcodeStr().str(), of(b))));
      }
      if (is_spread_type(bare(a)->getType())) {
        refuse_many(a);
        return made(e, fmt::format("__sc_walk(({}), {}(long)({}))", of(a),
                                   e->getOpcode() == clang::BO_SubAssign ? "-" : "", of(b)));
      }
      return of_parts(e);
    }
    const bool first = is_spread(a);
    const bool second = is_spread(b);
    if (!first && !second) return of_parts(e);
    if (e->isAdditiveOp()) {
      refuse_many(first ? a : b);
      if (first && second) return made(e, fmt::format("__sc_span(({}), ({}))", of(a), of(b)));
      const bool is_back = e->getOpcode() == clang::BO_Sub;
      if (is_back && points_to_global(b->getType())) {
        fail(e->getExprLoc(), "the difference of a spread and a global pointer");
      }
      return made(e, fmt::format("__sc_step(({}), {}({}))", of(first ? a : b),
                                 is_back ? "-(long)" : "", of(first ? b : a)));
    }
    if (e->isRelationalOp() && first && second) {
      return made(
          e, fmt::format("(__sc_span(({}), ({})) {} 0)", of(a), of(b), e->getOpcodeStr().str()));
    }
    return of_parts(e);
  }

  std::string of_assignment(const clang::BinaryOperator* e) {
    const clang::Expr* const to = e->getLHS();
    const clang::Expr* const from = e->getRHS();
    const bool is_to_global = is_global(to->getType());
    const auto split = program_.assignments.find(place(e->getOperatorLoc()) - prefix_);
    if (is_spread_type(bare(to)->getType()) && points_to_global(inside(from)->getType()) &&
        !is_spread(from) && !inside(from)->getType()->getPointeeType()->isVoidType()) {
      fail(e->getOperatorLoc(), "a global pointer becomes a spread pointer: a cast says so");
    }
    if (split == program_.assignments.end()) {
      if (!is_to_global) return of_parts(e);
      return made(e, access("write", to, fmt::format(", ({})", of(from))));
    }
    if (split->second == Assignment::store) {
      if (!is_to_global) {
        fail(e->getOperatorLoc(), "`:-` stores into a global place, and this one is local");
        return of_parts(e);
      }
      if (bit_field(to) != nullptr) {
        fail(e->getOperatorLoc(),
             "`:-` into a bit-field, which has no bytes of its own that its target could count");
      }
      return made(e, fmt::format("__sc_store(({}), ({}))", of(to), of(from)));
    }
    const clang::Expr* const read = read_globally(from);
    if (is_to_global && read != nullptr) {
      fail(e->getOperatorLoc(), "both sides of `:=` are global: one of them has to be local");
      return of_parts(e);
    }
    if (is_to_global) {
      const char* const word = bit_field(to) != nullptr ? "write" : "put";
      return made(e, access(word, to, fmt::format(", ({})", of(from))));
    }
    if (read == nullptr) {
      fail(e->getOperatorLoc(), "neither side of `:=` is a global place");
      return of_parts(e);
    }
    // It needs more than its bytes moved, which sync() does not do.
    if (bit_field(read) != nullptr || to->refersToBitField()) {
      return made(e, fmt::format("({} = {})", of(to), access("read", read)));
    }
    if (!are_alike(to->getType(), read->getType())) {
      fail(e->getOperatorLoc(),
           fmt::format("`:=` moves bytes and converts nothing: '{}' and '{}' are laid out "
                       "differently",
                       name_of(to->getType()), name_of(read->getType())));
    }
    return made(e, fmt::format("__sc_get(({}), ({}))", of(to), of(read)));
  }
  // The global place whose value it is; nullptr: it is no such value.
  const clang::Expr* read_globally(const clang::Expr* e) const {
    for (;;) {
      e = e->IgnoreParens();
      const auto* const implicit = dyn_cast<clang::ImplicitCastExpr>(e);
      if (implicit == nullptr) return nullptr;
      const clang::Expr* const sub = implicit->getSubExpr();
      if (implicit->getCastKind() == clang::CK_LValueToRValue) {
        return is_global(sub->getType()) ? sub : nullptr;
      }
      e = sub;
    }
  }
  std::string name_of(clang::QualType type) const {
    return in_split_c(ast_.removeAddrSpaceQualType(type).getUnqualifiedType().getAsString());
  }
  bool are_alike(clang::QualType a, clang::QualType b) const {
    a = ast_.getCanonicalType(ast_.removeAddrSpaceQualType(a)).getUnqualifiedType();
    b = ast_.getCanonicalType(ast_.removeAddrSpaceQualType(b)).getUnqualifiedType();
    if (ast_.hasSameType(a, b)) return true;
    const bool are_numbers = a->isIntegralOrEnumerationType() && b->isIntegralOrEnumerationType();
    const bool are_pointers = a->isPointerType() && b->isPointerType();
    return (are_numbers || are_pointers) && ast_.getTypeSize(a) == ast_.getTypeSize(b);
  }

  clang::ASTContext& ast_;
  clang::SourceManager& sources_;
  const PlainC& program_;
  const std::size_t prefix_;
  const std::string_view text_;
  std::vector<std::string>& errors_;
};

class Errors : public clang::DiagnosticConsumer {
 public:
  explicit Errors(std::vector<std::string>& errors) : errors_(errors) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& what) override {
    DiagnosticConsumer::HandleDiagnostic(level, what);
    if (level < clang::DiagnosticsEngine::Error) return;
    llvm::SmallString<128> text;
    what.FormatDiagnostic(text);
    std::string place = "?:0";
    if (what.hasSourceManager() && what.getLocation().isValid()) {
      const clang::PresumedLoc where = what.getSourceManager().getPresumedLoc(
          what.getSourceManager().getExpansionLoc(what.getLocation()));
      if (where.isValid()) place = fmt::format("{}:{}", where.getFilename(), where.getLine());
    }
    errors_.push_back(fmt::format("{}: error: {}", place, in_split_c(text.str().str())));
  }

 private:
  std::vector<std::string>& errors_;
};

struct Work {
  const PlainC& program;
  std::string out;
  std::vector<std::string> errors;
};

class Consumer : public clang::ASTConsumer {
 public:
  explicit Consumer(Work& work) : work_(work) {}
  void HandleTranslationUnit(clang::ASTContext& ast) override {
    if (!work_.errors.empty()) return;
    work_.out = Translation(ast, work_.program, prefix_for_types().size(), work_.errors).run();
  }

 private:
  Work& work_;
};

class Action : public clang::ASTFrontendAction {
 public:
  explicit Action(Work& work) : work_(work) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    compiler.getDiagnostics().setClient(new Errors(work_.errors), true);
    return std::make_unique<Consumer>(work_);
  }

 private:
  Work& work_;
};

}  // namespace

Result<std::string> to_c(const PlainC& program) {
  Work work{program, {}, {}};
  const std::string all = std::string(prefix_for_types()) + program.text;
  const bool good = clang::tooling::runToolOnCodeWithArgs(
      std::make_unique<Action>(work), all,
      {"-xc", "-std=gnu89", "-w", "-fsyntax-only", "-nostdinc", "-fno-builtin",
       "-fno-caret-diagnostics", "-ferror-limit=50"},
      "program.c", "fairlead-splitcc");
  if (!work.errors.empty() || !good) {
    std::string text;
    for (const std::string& one : work.errors) {
      if (!text.empty()) text += '\n';
      text += one;
    }
    return Error{text.empty() ? "the front end gave no reason" : text};
  }
  std::string out = "#include \"fairlead/systems/splitc/translated.h\"\n" + work.out;
  if (program.has_main) {
    out +=
        "\nint main(int argc, char **argv) {\n"
        "  return fairlead_splitc_main(argc, argv, (int (*)(int, char **))splitc_main);\n}\n";
  }
  return out;
}

}  // namespace fairlead::splitcc
