"""Reads calls.txt and constants.txt: what a call is, and what each of its parameters is."""
import re
import sys

PROTOTYPE = re.compile(r"^([-=] )?(\w+) (\w+)\((.*)\)$")
PARAMETER = re.compile(r"^(.*?)(\w+)((?:\[\d*\])*)(?::(\w+))?$")
STATES = {None: "yes", "- ": "no", "= ": "later"}

# Types that depend on the form: plain form, _c form, and what the work gets.
FORMS = {"COUNT": ("int", "MPI_Count", "MPI_Count"),
         "DISP": ("int", "MPI_Aint", "MPI_Aint"),
         "SIZE": ("MPI_Aint", "MPI_Count", "MPI_Count"),
         "_function%": ("_function", "_function_c", "_function%")}
PLAIN, LARGE, WORK = range(3)

# What an int is, by its name; the first rule that fits.
KINDS_BY_NAME = (("root", r"root"),
                 ("rank", r"dest|source|rank|target_rank|local_leader|remote_leader"),
                 ("tag", r"tag|sendtag|recvtag"),
                 ("ndims", r"ndims|maxdims"),
                 ("order", r"order"),
                 ("count", r"\w*count|n|blocklength"),
                 ("logical", r"flag|commute|reorder|high|wait|is_set|periods|remain_dims"),
                 ("size", r"\w*size"))
# A parameter's kind by its type; \w+ is a handle's.
KINDS_BY_TYPE = (("position", r"(COUNT|SIZE)\* ?position"),
                 ("handle", r"(MPI_(?:Comm|Win|File|Session|Group|Info|Datatype|Op|Request|"
                            r"Message|Errhandler)) \w+"),
                 ("counts", r"const COUNT \w*counts\[\]"),
                 ("displacements", r"const (?:DISP|MPI_Aint) \w*displs\[\]"),
                 ("status", r"MPI_Status\* \w+"),
                 ("buffer", r"(?:const )?void\* (?:\w*buf|\w*buffer|\w*_addr)"),
                 ("string", r"const char\* \w+"))


def in_form(text, form):
    for word, types in FORMS.items():
        text = text.replace(word, types[form])
    return text


class Parameter:
    def __init__(self, text):
        match = PARAMETER.match(text)
        self.kind = None
        if text == "...":
            self.type, self.name, self.array = "...", "", ""
            return
        if not match:
            sys.exit(f"calls.txt: not a parameter: {text}")
        self.type, self.name, self.array, kind = match.groups()
        self.type = self.type.strip()
        self.kind = kind or self.usual_kind()

    def usual_kind(self):
        written = f"{self.type} {self.name}{self.array}"
        for kind, rule in KINDS_BY_TYPE:
            match = re.fullmatch(rule, written)
            if match:
                return match.group(1)[4:].lower() if kind == "handle" else kind
        if self.type in ("int", "COUNT", "DISP", "SIZE", "const int"):
            for kind, rule in KINDS_BY_NAME:
                if re.fullmatch(rule, self.name):
                    return kind
        return "other"

    def written(self, form):
        if self.type == "...":
            return "..."
        return f"{in_form(self.type, form)} {self.name}{self.array}"

    def for_work(self):
        """As the function that does the work takes it; nothing for `...`."""
        if self.is_view():
            return f"Counts {self.name}"
        if "%" in self.type:
            return f"UserFunction {self.name}"
        return self.written(WORK)

    def is_view(self):
        """An array whose elements have 32 or 64 bits."""
        return self.array != "" and re.fullmatch(r"const (COUNT|DISP)", self.type) is not None

    def narrows(self):
        return self.type in ("COUNT*", "DISP*")


class Call:
    def __init__(self, line, heading):
        match = PROTOTYPE.match(line)
        if not match:
            sys.exit(f"calls.txt: not a prototype: {line}")
        state, self.answer, self.name, text = match.groups()
        self.state, self.heading, self.notes = STATES[state], heading, []
        self.parameters = [] if text == "void" else [Parameter(p.strip()) for p in text.split(",")]
        self.has_large = any(word in text for word in FORMS)

    def forms(self):
        yield self.name, PLAIN
        if self.has_large:
            yield self.name + "_c", LARGE

    def parameter_list(self, form):
        return ", ".join(p.written(form) for p in self.parameters) or "void"


class Heading:
    def __init__(self, text):
        self.text, self.notes = text, []


def read_calls(path):
    calls, heading, last = [], None, None
    with open(path, encoding="utf-8") as source:
        text = source.read()
    for line in text.split("\n\n", 1)[1].splitlines():
        line = line.strip()
        if line.startswith("# "):
            last = heading = Heading(line[2:])
        elif line.startswith("! "):
            last.notes.append(line[2:])
        elif line:
            last = Call(line, heading)
            calls.append(last)
    return calls


def read_constants(path):
    """Sections: (heading or None, first line, other lines)."""
    sections = []
    with open(path, encoding="utf-8") as source:
        text = source.read()
    heading = None
    for line in text.split("\n\n", 1)[1].splitlines():
        if line.startswith("# "):
            heading = line[2:]
        elif re.match(r"(handle|enum|pointer) |values$|macros$|functions$|names$", line):
            sections.append((heading, line, []))
            heading = None
        elif line:
            sections[-1][2].append(line)
    return sections
