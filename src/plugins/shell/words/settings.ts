/**
 * What the variables of a line may hold, from every place on the line that sets them.
 *
 * I1 A name is known only when all its settings are: one that cannot be read makes it unknown.
 * I2 Names that a program of the shell sets by argument (`read x`, `printf -v x`, `eval …`) are unknown.
 */
import type { ShellNode } from '../parse/syntax.js'
import { literalOf, readWord, type WordContext } from './word.js'

type Setting =
  /** A whole number, whichever; in a list, which a text in parentheses may replace. */
  | { readonly kind: 'number'; readonly list?: true }
  /** One of these texts, in escape form; wildcards in it have been expanded to existing paths. */
  | { readonly kind: 'texts'; readonly patterns: readonly string[] }
  /** Whatever another variable holds. */
  | { readonly kind: 'copy'; readonly name: string }
  | { readonly kind: 'unknown'; readonly list?: true }
  /** Named in an argument of something that may set it (I2). */
  | { readonly kind: 'mentioned' }

export type Settings = Map<string, Setting[]>

const UNKNOWN: Setting = { kind: 'unknown' }
const MENTIONED: Setting = { kind: 'mentioned' }
const NUMBER: Setting = { kind: 'number' }
const LIST: Setting = { kind: 'number', list: true }
const WHOLE = /^[-+]?\d{1,18}$/
const IDENTIFIER = /[A-Za-z_]\w*/g
/** Set by the shell itself, whatever the line assigns to them. */
const OWN =
  /^(?:BASH\w*|COMP_\w+|COPROC|DIRSTACK|EPOCH\w+|FUNCNAME|GROUPS|HISTCMD|MAPFILE|OLDPWD|OPTARG|OPTIND|PIPESTATUS|PWD|READLINE_\w+|REPLY|SHELLOPTS|SRANDOM|_)$/
const ALWAYS_NUMBERS = new Set(['RANDOM', 'SECONDS', 'LINENO', 'UID', 'EUID', 'PPID', 'BASHPID', '#', '?', '$', '!'])
/** Parts of the shell that set variables named by their arguments. */
const SETTERS =
  /^(?:read|printf|mapfile|readarray|getopts|let|wait|unset|eval|trap|source|\.|command|builtin|coproc|exec|export|declare|typeset|local|readonly)$/
const ARITHMETIC = new Set(['arithmetic_expansion', 'c_style_for_statement', 'compound_statement'])
const MAX_DEPTH = 20

/** Adds what the text below `root` sets. */
export function collectSettings(settings: Settings, root: ShellNode, context: WordContext): void {
  const open: { readonly node: ShellNode; readonly arithmetic: boolean }[] = [{ node: root, arithmetic: false }]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { node, arithmetic } = at
    collectNode(settings, node, { context, arithmetic })
    const inside = arithmetic || (ARITHMETIC.has(node.type) && (node.type !== 'compound_statement' || node.text.startsWith('((')))
    for (const child of node.children) open.push({ node: child, arithmetic: inside && child.type !== 'do_group' })
  }
}

/** True when the variable holds a whole number, wherever on the line it was set. */
export function isNumber(settings: Settings, name: string, depth = 0): boolean {
  const known = settings.get(name)
  if (known === undefined || depth > MAX_DEPTH || OWN.test(name)) return known === undefined && ALWAYS_NUMBERS.has(name)
  return known.every((setting) => {
    if (setting.kind === 'copy') return isNumber(settings, setting.name, depth + 1)
    return setting.kind === 'number' || (setting.kind === 'texts' && setting.patterns.every((pattern) => WHOLE.test(pattern)))
  })
}

/** Every text the variable may hold, in escape form; undefined when one of them is not known. */
export function textsOf(settings: Settings, name: string): readonly string[] | undefined {
  const known = settings.get(name)
  if (known === undefined || settings.has('IFS') || OWN.test(name) || ALWAYS_NUMBERS.has(name)) return undefined
  const texts: string[] = []
  for (const setting of known) {
    if (setting.kind !== 'texts') return undefined
    texts.push(...setting.patterns)
  }
  return texts
}

/** True when the variable may be a list: then a value in parentheses is read as one, its indexes as arithmetic. */
export function mayBeList(settings: Settings, name: string): boolean {
  return (
    OWN.test(name) || settings.get(name)?.some((setting) => setting.kind === 'mentioned' || ('list' in setting && setting.list)) === true
  )
}

interface Place {
  readonly context: WordContext
  readonly arithmetic: boolean
}

function collectNode(settings: Settings, node: ShellNode, { context, arithmetic }: Place): void {
  switch (node.type) {
    case 'variable_assignment':
      return collectAssignment(settings, node, { context, arithmetic })
    case 'for_statement':
      return collectLoop(settings, node, context)
    case 'command':
    case 'declaration_command':
    case 'unset_command':
      return collectCommand(settings, node, context)
    case 'binary_expression':
      if (/^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.children[1]?.text ?? '')) add(settings, nameIn(node.children[0]), NUMBER)
      return
    case 'postfix_expression':
    case 'unary_expression':
      if (node.children.some((child) => child.type === '++' || child.type === '--')) {
        for (const child of node.children) if (child.named) add(settings, nameIn(child), NUMBER)
      }
      return
    case 'expansion':
      if (node.children.some((child) => child.type === '=' || child.type === ':=')) {
        for (const child of node.children.slice(0, 3)) add(settings, nameIn(child), UNKNOWN)
      }
      return
    default:
  }
}

function collectAssignment(settings: Settings, node: ShellNode, { context, arithmetic }: Place): void {
  const [target, operator, value] = node.children
  const name = nameIn(target)
  const setting = arithmetic ? NUMBER : settingOf(value, context)
  if (target?.type === 'subscript' || value?.type === 'array') add(settings, name, LIST)
  const whole = target?.type === 'variable_name' && operator?.type === '='
  add(settings, name, whole || (operator?.type === '+=' && isWhole(setting)) ? setting : isWhole(setting) ? NUMBER : UNKNOWN)
}

function isWhole(setting: Setting): boolean {
  return setting.kind === 'number' || (setting.kind === 'texts' && setting.patterns.every((pattern) => WHOLE.test(pattern)))
}

function settingOf(value: ShellNode | undefined, context: WordContext): Setting {
  if (value === undefined) return UNKNOWN
  if (value.type === 'arithmetic_expansion') return NUMBER
  if (value.type === 'array') {
    const parts = value.children.filter((child) => child.named).map((child) => settingOf(child, context))
    return parts.length > 0 && parts.every((part) => isWhole(part)) ? NUMBER : UNKNOWN
  }
  if (value.type === 'simple_expansion' || value.type === 'expansion') {
    if (/^\$\{#\w+(?:\[[@*]\])?\}$/.test(value.text)) return NUMBER
    const name = /^\$(?:\{(\w+)\}|(\w+)|([#?$!]))$/
      .exec(value.text)
      ?.slice(1)
      .find((part) => part !== undefined)
    if (name !== undefined && ALWAYS_NUMBERS.has(name)) return NUMBER
    return name === undefined || name === 'HOME' ? literalSetting(value, context) : { kind: 'copy', name }
  }
  return literalSetting(value, context)
}

function literalSetting(value: ShellNode, context: WordContext): Setting {
  const word = readWord(value, context)
  return literalOf(word) === undefined ? UNKNOWN : { kind: 'texts', patterns: [word.pattern] }
}

/** `for name in words`: every word is one of its texts; `select` and a loop over the arguments are not known. */
function collectLoop(settings: Settings, node: ShellNode, context: WordContext): void {
  const name = nameIn(node.children.find((child) => child.type === 'variable_name'))
  const from = node.children.findIndex((child) => child.type === 'in')
  if (from < 0 || node.children[0]?.type !== 'for') return add(settings, name, UNKNOWN)
  for (const child of node.children.slice(from + 1)) {
    if (!child.named || child.type === 'do_group') break
    const word = readWord(child, context)
    if (word.dynamic || word.approximate || /[{}\n]/.test(word.pattern)) add(settings, name, UNKNOWN)
    else add(settings, name, { kind: 'texts', patterns: [word.pattern] })
  }
}

/** I2. Options stand before names, so every identifier of every argument may be one. */
function collectCommand(settings: Settings, node: ShellNode, context: WordContext): void {
  const [first, ...args] = node.children.filter((child) => child.type !== 'variable_assignment')
  if (first === undefined) return
  const program = readWord(first, context)
  if (!program.dynamic && !SETTERS.test(literalOf(program) ?? 'eval')) return
  if (literalOf(program) === 'let') return collectLet(settings, args, context)
  if (node.type === 'declaration_command' && args.some(({ text }) => /^-\w*[aA]/.test(text)))
    for (const child of node.children) add(settings, nameIn(child), LIST)
  for (const child of args) {
    if (node.type === 'declaration_command' && (child.type === 'variable_name' || child.type === 'variable_assignment')) continue
    for (const [name] of readWord(child, context).text.matchAll(IDENTIFIER)) add(settings, name, MENTIONED)
  }
}

/** What `let` assigns is a number. */
function collectLet(settings: Settings, args: readonly ShellNode[], context: WordContext): void {
  for (const child of args) {
    for (const [name] of readWord(child, context).text.matchAll(/[A-Za-z_]\w*(?=\s*(?:[-+*/%&|^]|<<|>>)?=(?!=))/g))
      add(settings, name, NUMBER)
  }
}

function nameIn(node: ShellNode | undefined): string {
  return /^[A-Za-z_]\w*/.exec(node?.text ?? '')?.[0] ?? ''
}

function add(settings: Settings, name: string, setting: Setting): void {
  if (name === '') return
  const known = settings.get(name)
  if (known === undefined) settings.set(name, [setting])
  else known.push(setting)
}
