"""What the lint scripts share: finding sources, reading C without its comments, reporting."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = ROOT / 'libext4core'
PUBLIC = ROOT / 'include' / 'ext4core'


def shown(path):
    """The path as a reader would type it from the root of the repository."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def without_comments(text):
    """C text with comments and the content of literals blanked; all else stays where it was."""
    def blank(match):
        if match[0][0] in '"\'':
            return match[0][0] + ' ' * (len(match[0]) - 2) + match[0][0]
        return re.sub(r'[^\n]', ' ', match[0])
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def line_of(text, offset):
    return text.count('\n', 0, offset) + 1


def finish(name, errors):
    """Prints what was found and ends the script: 0 when there was nothing."""
    for error in errors:
        print(error)
    print(f'{name}: {len(errors)} found' if errors else f'{name}: ok')
    sys.exit(bool(errors))
