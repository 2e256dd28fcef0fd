/** Programs whose arguments are another program to start: where that program begins. */
import type { Word } from '../judge/word.js'

interface Options {
  /** Short letters without a value. */
  readonly flags?: string
  /** Short letters with a value. */
  readonly values?: string
  readonly longFlags?: readonly string[]
  readonly longValues?: readonly string[]
  /** Operands before the program, e.g. a duration. */
  readonly operands?: number
  /** `NAME=value` words come before the program. */
  readonly assignments?: boolean
  /** An option that is a number, as in `nice -10`. */
  readonly numeric?: boolean
}

export interface Unwrapped {
  /** The inner program and its arguments; empty when there is none. */
  readonly inner: readonly Word[]
  readonly assignments: readonly Word[]
  /** Value of `-I` and the like of xargs: where the arguments go. */
  readonly placeholder: string | undefined
}

const WRAPPERS: Readonly<Record<string, Options>> = {
  env: { flags: 'i0v', values: 'u', longFlags: ['--ignore-environment', '--null', '--debug'], longValues: ['--unset'], assignments: true },
  sudo: {
    flags: 'AbEHknPS',
    values: 'ugpCT',
    longFlags: ['--preserve-env', '--set-home', '--non-interactive', '--background', '--stdin'],
    longValues: ['--user', '--group', '--prompt'],
    assignments: true,
  },
  doas: { flags: 'n', values: 'u' },
  nohup: {},
  nice: { values: 'n', longValues: ['--adjustment'], numeric: true },
  ionice: { flags: 't', values: 'cn', longFlags: ['--ignore'], longValues: ['--class', '--classdata'] },
  timeout: {
    flags: 'v',
    values: 'sk',
    longFlags: ['--preserve-status', '--foreground', '--verbose'],
    longValues: ['--signal', '--kill-after'],
    operands: 1,
  },
  stdbuf: { values: 'ioe', longValues: ['--input', '--output', '--error'] },
  setsid: { flags: 'cfw', longFlags: ['--ctty', '--fork', '--wait'] },
  time: { flags: 'pv', values: 'f', longFlags: ['--portability', '--verbose'], longValues: ['--format'], assignments: true },
  exec: { flags: 'cl', values: 'a' },
  command: { flags: 'p' },
  builtin: {},
  coproc: { assignments: true },
  busybox: {},
  toybox: {},
  chronic: {},
  caffeinate: { flags: 'dimsu', values: 't' },
  taskset: { flags: 'c', longFlags: ['--cpu-list'], operands: 1 },
  watch: { flags: 'bcdegptwx', values: 'n', longFlags: ['--differences', '--exec', '--no-title', '--color'], longValues: ['--interval'] },
  xargs: {
    flags: '0rtpxo',
    values: 'aEILnPsd',
    longFlags: ['--null', '--no-run-if-empty', '--verbose', '--exit', '--open-tty', '--interactive'],
    longValues: ['--arg-file', '--delimiter', '--max-args', '--max-procs', '--max-chars', '--replace'],
  },
}

export function isWrapper(program: string): boolean {
  return Object.hasOwn(WRAPPERS, program)
}

/** Finds the program inside; undefined when an option is not known, so that what would start is not certain. */
export function unwrap(program: string, args: readonly Word[]): Unwrapped | undefined {
  const options = WRAPPERS[program]
  if (options === undefined) return undefined
  let placeholder: string | undefined
  let at = 0
  for (; at < args.length; at += 1) {
    const word = args[at]
    if (word === undefined || word.dynamic) break
    if (word.text === '--') {
      at += 1
      break
    }
    if (!word.text.startsWith('-') || (word.text === '-' && program !== 'env')) break
    const step = readOption(word.text, options)
    if (step === undefined) return undefined
    if (program === 'xargs' && /^(?:-[0rtpxo]*I|--replace)/.test(word.text)) {
      placeholder = step === 'next' ? args[at + 1]?.text : word.text.replace(/^(?:-[0rtpxo]*I|--replace=?)/, '') || '{}'
    }
    if (step === 'next') at += 1
  }
  const assignments: Word[] = []
  while (options.assignments === true && /^[A-Za-z_]\w*\+?=/.test(args[at]?.text ?? '')) {
    const word = args[at]
    if (word !== undefined) assignments.push(word)
    at += 1
  }
  return { inner: args.slice(at + (options.operands ?? 0)), assignments, placeholder }
}

/** Whether an option ends in its own word or takes the next one; undefined when it is not known. */
function readOption(text: string, options: Options): 'own' | 'next' | undefined {
  if (text === '-') return 'own'
  if (text.startsWith('--')) {
    const [name = '', value] = text.split('=', 2)
    if (options.longFlags?.includes(name) === true) return 'own'
    if (options.longValues?.includes(name) !== true) return undefined
    return value === undefined && name !== '--replace' ? 'next' : 'own'
  }
  if (options.numeric === true && /^-\d+$/.test(text)) return 'own'
  for (let at = 1; at < text.length; at += 1) {
    const letter = text.charAt(at)
    if (options.values?.includes(letter) === true) return at + 1 === text.length ? 'next' : 'own'
    if (options.flags?.includes(letter) !== true) return undefined
  }
  return 'own'
}
