"""What shells and `man` get of the command: help, manual pages that troff reads without complaint, and completion in bash, zsh and
fish, asked for as a user's Tab key does."""

import os
import re
import shutil
import subprocess
import unittest

import harness

COMMANDS = ("run", "check", "build", "map", "machine", "show", "help", "completion")


def long_options(text):
    return set(re.findall(r"^\s+(?:-\w(?: \[ \])?,\s*)?--([a-z]+(?:-[a-z]+)*)", text, re.MULTILINE))


class Shell(harness.Case):
    def setUp(self):
        super().setUp()
        os.symlink(harness.options.strata, self.path("strata"))
        self.write("program.sq", "")
        self.write("own.yaml", "")
        self.write("notes.txt", "")
        self.write("data.npy", "")

    def shell(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=600,
                              env=dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", HOME=self.folder, TERM="xterm"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def script(self, shell):
        return self.write(f"script.{shell}", self.succeeds("completion", shell).out)

    def test_help_is_the_same_by_either_name(self):
        self.assertEqual(self.succeeds("help").out, self.succeeds("--help").out)
        for command in COMMANDS:
            self.assertEqual(self.succeeds("help", command).out, self.succeeds(command, "--help").out)
        self.is_refused("help", "rnu", code="driver-usage", mentions="did you mean 'run'?")
        self.is_refused("completion", "tcsh", code="driver-usage")
        self.is_refused("completion", code="driver-usage")

    def test_manual_pages(self):
        for command in ("", *COMMANDS):
            page = self.succeeds("help", "--man", *([command] if command else [])).out
            self.assertTrue(page.startswith(f'.TH "STRATA{chr(92)}-{command.upper()}" 1') or not command, page[:60])
            for option in long_options(self.succeeds("help", *([command] if command else [])).out):
                self.assertIn("\\-\\-" + option.replace("-", "\\-") + "\\fR", page)
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True)
                self.assertEqual(done.stderr, "", command)
                self.assertIn("EXIT STATUS", re.sub(".\x08", "", done.stdout))  # without what makes letters bold

    def bash(self, *words):
        script = self.script("bash")
        quoted = " ".join(f"'{word}'" for word in words)
        return set(self.shell("bash", "-c", f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _strata; "
                              'printf "%s\\n" "${COMPREPLY[@]}"').split())

    def test_bash(self):
        self.assertEqual(self.bash("strata", "ru"), {"run"})
        self.assertTrue(set(COMMANDS) <= self.bash("strata", ""))
        self.assertEqual(self.bash("strata", "run", ""), {"program.sq"})
        self.assertEqual(self.bash("strata", "run", "--ma"), {"--machine", "--map", "--main"})
        self.assertTrue({"cell", "own.yaml"} <= self.bash("strata", "run", "program.sq", "--machine", ""))
        self.assertEqual(self.bash("strata", "run", "program.sq", "--machine", "=", "cell-"), {"cell-disk"})
        self.assertEqual(self.bash("strata", "run", "--in", "A", "=", "ra"), {"random"})
        self.assertEqual(self.bash("strata", "run", "--in", "A", "=", "da"), {"data.npy"})
        self.assertEqual(self.bash("strata", "map", "--format", "="), {"braces", "xml", "text", "binary"})
        self.assertEqual(self.bash("strata", "help", "sh"), {"show"})
        self.assertTrue({"notes.txt", "program.sq"} <= self.bash("strata", "cc", ""))
        self.assertEqual(self.bash("strata", "run", "--repeat", ""), set())

    @unittest.skipUnless(shutil.which("fish") or os.environ.get("CI"), "there is no fish")
    def test_fish(self):
        script = self.script("fish")

        def complete(line):
            return {row.split("\t")[0] for row in self.shell("fish", "-c", f'source {script}; complete -C "{line}"').splitlines()}

        self.assertEqual(complete("strata ru"), {"run"})
        self.assertEqual(complete("strata run --ma"), {"--machine", "--map", "--main"})
        self.assertIn("cell", complete("strata run program.sq --machine "))
        self.assertIn("program.sq", complete("strata run pro"))
        self.assertEqual(complete("strata map --format "), {"braces", "xml", "text", "binary"})

    @unittest.skipUnless(shutil.which("zsh") or os.environ.get("CI"), "there is no zsh")
    def test_zsh(self):
        # Completion of zsh answers a terminal only, so one is made inside of zsh.
        script = self.script("zsh")
        self.write("ask.zsh", f"""
            zmodload zsh/zpty
            zpty -b shell zsh -f -i
            ask() {{ zpty -w shell "$1" }}
            ask "PS1=; autoload -U compinit; compinit -u -d {self.folder}/dump; source {script}; cd {self.folder}"
            ask "zstyle ':completion:*' format ''; LISTMAX=1000; COLUMNS=200; bindkey '^I' complete-word; echo READY"
            zpty -r -m shell seen '*READY*READY*'
            zpty -n -w shell $1$'\\t\\t'
            sleep 1.5
            zpty -r -t shell seen '*' ; all=$seen
            while zpty -r -t shell seen; do all+=$seen; done
            print -r -- $all
        """)

        def complete(line):
            text = self.shell("zsh", "-f", self.path("ask.zsh"), line)
            return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", " ", text)

        self.assertRegex(complete("strata ru"), r"strata run")
        self.assertRegex(complete("strata run --timel"), "--timeline ?=")
        self.assertRegex(complete("strata run pro"), "program.sq")
        self.assertRegex(complete("strata run program.sq --machine=cell-"), "cell-disk")


if __name__ == "__main__":
    harness.main()
