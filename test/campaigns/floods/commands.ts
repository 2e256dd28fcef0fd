/** Lines of shell that nobody means, judged before they are asked about; those that are allowed run. */
import type { Flood } from './scene.js'

const KiB = 1024
/** What is analysed at most, and a tool call may say at most. */
const JUDGED = 16 * KiB
const SAID = 100_000

const fill = (piece: string, length: number) => piece.repeat(Math.max(1, Math.floor(length / piece.length)))
const nest = (open: string, close: string, length: number) => {
  const depth = Math.floor((length - 1) / (open.length + close.length))
  return `${open.repeat(depth)}a${close.repeat(depth)}`
}

const LINES: Readonly<Record<string, (length: number) => string>> = {
  'substitutions without an end': (length) => fill('$(', length),
  'nested substitutions': (length) => nest('$(', ')', length),
  'nested arithmetic': (length) => `echo ${nest('$((', '))', length - 5)}`,
  'nested parameters': (length) => `echo ${nest('${a:-', '}', length - 5)}`,
  'nested quotes': (length) => `echo ${nest('"$(echo ', ')"', length - 5)}`,
  backquotes: (length) => fill('`a` ', length),
  'a list': (length) => fill('a;', length),
  'an and-list': (length) => `${fill('a && ', length - 1)}a`,
  'a pipe': (length) => `${fill('a|', length - 1)}a`,
  'jobs behind': (length) => fill('a& ', length),
  'one word': (length) => fill('x', length),
  'one quoted word': (length) => `echo '${fill('x', length - 7)}'`,
  braces: (length) => `echo ${fill('{a,b}', length - 5)}`,
  'nested braces': (length) => `echo ${nest('{a,', '}', length - 5)}`,
  'ranges of braces': (length) => `echo ${fill('{1..9999999} ', length - 5)}`,
  conditions: (length) => fill('[[ a ]] && ', length),
  'nested conditions': (length) => fill('[[ ', length),
  'brackets in quotes': (length) => `echo '${fill('[', length - 7)}'`,
  groups: (length) => nest('( ', ' )', length),
  'one long path': (length) => `cat /${fill('a/', length - 5)}`,
  'a path of ways up': (length) => `cat ${fill('../', length - 4)}`,
  'short operands': (length) => `cat ${fill('a ', Math.min(length, 3000))}`,
  'operands to look up': (length) => `rm ${fill('README.md ', length - 3)}`,
  'operands to expand': (length) => `cat ${fill('* ', length - 4)}`,
  globs: (length) => `cat ${fill('*/', length - 5)}*`,
  redirections: (length) => `echo ${fill('>a ', length - 5)}`,
  descriptors: (length) => `echo ${fill('8>&9 ', length - 5)}`,
  assignments: (length) => fill('a=1 ', length),
  'dynamic assignments': (length) => fill('a=$a$a; ', length),
  subscripts: (length) => nest('a[', ']=1', length),
  functions: (length) => fill('f() { g; }; ', length),
  cases: (length) => `case a in ${fill('a) b;; ', length - 20)} esac`,
  loops: (length) => `${fill('for i in a; do ', length / 2)}b${fill('; done', length / 3)}`,
  'a here-document': (length) => `cat <<EOF\n${fill('line\n', length - 20)}EOF\n`,
  'a here-document to expand': (length) => `cat <<EOF\n${fill('$a$(b)\n', length - 20)}EOF\n`,
  'here-documents': (length) => fill('cat <<A\nA\n', length),
  'evaluated text': (length) => `eval '${fill('a;', length - 8)}'`,
  'shells in shells': (length) => `${fill('sh -c ', length - 2)}a`,
  wrappers: (length) => `${fill('env ', length - 2)}a`,
  directories: (length) => fill('cd a;', length),
  'git again and again': (length) => fill('git status;', length),
  'find and xargs': (length) => fill('find . | xargs cat;', length),
  awk: (length) => `awk '${fill('{print}', length - 8)}' README.md`,
  sed: (length) => `sed '${fill('s/a/b/;', length - 8)}' README.md`,
  comments: (length) => `a #${fill('#', length - 3)}`,
  'empty lines': (length) => `${fill('\n', length - 1)}a`,
  blanks: (length) => `a${fill(' ', length - 1)}`,
  backslashes: (length) => `echo ${fill('\\\\', length - 5)}`,
  'line continuations': (length) => `echo ${fill('\\\n', length - 6)}a`,
  emoji: (length) => `echo '${fill('😀', length - 8)}'`,
}

const SAMPLE = ['nested substitutions', 'a list', 'a pipe', 'braces', 'operands to look up', 'a here-document', 'one word']

/** One flood for each kind of line, in every size; eight calls of it in one answer are judged at once. */
export const COMMANDS: readonly Flood[] = Object.entries(LINES).map(([name, make]) => ({
  name,
  run: ({ callTool, size }) => {
    const sizes = size === 'whole' ? [1000, 8000, JUDGED - 1, JUDGED + 1, SAID] : [JUDGED - 1]
    const copies = 8
    const inputs = sizes.flatMap((length) => {
      const command = make(length).slice(0, SAID)
      return Array.from({ length: length > JUDGED ? 1 : copies }, () => ({ command, timeout: 2000 }))
    })
    return callTool('bash', inputs.slice(0, 60))
  },
}))

export const SAMPLED_COMMANDS = COMMANDS.filter(({ name }) => SAMPLE.includes(name))

/** Run, not only judged: what a program prints, and a here-document that is longer than what is judged. */
export const OUTPUTS: readonly Flood[] = [
  {
    name: 'a here-document of 1 MiB',
    run: ({ callTool }) => callTool('bash', [{ command: `cat <<'EOF'\n${fill('line\n', 1024 * KiB)}EOF\n` }]),
  },
  { name: 'output without an end', run: ({ callTool }) => callTool('bash', [{ command: 'yes', timeout: 2000 }]) },
  { name: 'one endless line', run: ({ callTool }) => callTool('bash', [{ command: "yes | tr -d '\\n'", timeout: 2000 }]) },
  { name: 'errors without an end', run: ({ callTool }) => callTool('bash', [{ command: 'cat /dev/zero >&2', timeout: 2000 }]) },
  {
    name: 'ten endless outputs at once',
    run: ({ callTool }) =>
      callTool(
        'bash',
        Array.from({ length: 10 }, (_, index) => ({ command: `yes ${index}`, timeout: 2000 })),
      ),
  },
]
