/**
 * Walks the syntax tree of one shell text and records every program it would start, every redirection and
 * every directory change, in the order they happen. A construct that is not listed here is not understood.
 */
import { addPlaces, addReason, addSegment, type Findings, type Flow, TOP } from './findings.js'
import { checkAssignment, type ScanText, startProgram } from './programs.js'
import { opaqueReason } from './opaque.js'
import type { ShellNode } from './syntax.js'
import { touchWord } from './touch.js'
import { isDecisive } from './variables.js'
import { readWord, type Word } from './word.js'

type Walk = (walker: Walker, node: ShellNode, flow: Flow) => Promise<void>

export interface Walker {
  readonly findings: Findings
  readonly scanText: ScanText
}

/** Nodes that only hold other nodes: words, expressions, and lists that run their parts in order. */
const TRANSPARENT =
  'program concatenation translated_string array regex extglob_pattern number variable_name special_variable_name test_operator binary_expression unary_expression ternary_expression postfix_expression parenthesized_expression brace_expression heredoc_body heredoc_content heredoc_start heredoc_end file_descriptor string_content simple_expansion negated_command variable_assignments comment herestring_redirect command_name do_group word string raw_string ansi_c_string'
const WORDS = new Set(['word', 'concatenation', 'string', 'raw_string', 'ansi_c_string', 'translated_string'])
const COMMAND_PARTS = new Set([
  ...WORDS,
  'command_name',
  'number',
  'simple_expansion',
  'expansion',
  'command_substitution',
  'process_substitution',
  'arithmetic_expansion',
  'brace_expression',
  'variable_name',
  'special_variable_name',
])
const JOINED = new Set(['list', 'pipeline', 'negated_command'])
const WRITE_REDIRECTS = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&'])

const HANDLERS: ReadonlyMap<string, Walk> = new Map<string, Walk>([
  ...TRANSPARENT.split(' ').map((type): [string, Walk] => [type, walkParts]),
  ['command', walkCommand],
  ['declaration_command', walkDeclaration],
  ['unset_command', walkDeclaration],
  ['variable_assignment', walkAssignment],
  ['subscript', walkArithmetic],
  ['arithmetic_expansion', walkArithmetic],
  ['c_style_for_statement', (walker, node, flow) => walkArithmetic(walker, node, { ...flow, certain: false, repeats: true })],
  ['compound_statement', (walker, node, flow) => (node.text.startsWith('((') ? walkArithmetic : walkParts)(walker, node, flow)],
  ['expansion', walkExpansion],
  ['test_command', walkTest],
  ['list', walkList],
  ['pipeline', walkPipeline],
  ['subshell', walkApart],
  ['command_substitution', walkApart],
  ['process_substitution', walkApart],
  ['redirected_statement', walkRedirected],
  ['file_redirect', walkFileRedirect],
  ['heredoc_redirect', walkHeredoc],
  ['if_statement', walkBranch],
  ['elif_clause', walkBranch],
  ['else_clause', walkBranch],
  ['case_statement', walkBranch],
  ['case_item', walkBranch],
  ['while_statement', walkLoop],
  ['for_statement', walkLoop],
  ['function_definition', walkFunction],
])

/** Walks one node and everything below it. */
export async function walk(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const handler = HANDLERS.get(node.type)
  if (handler !== undefined) return handler(walker, node, flow)
  if (node.named) addReason(walker.findings, `it uses a construct that is not analysed: ${node.type}`)
}

async function walkParts(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  if (WORDS.has(node.type) && readHere(walker, node).evaluable) walker.findings.evaluable = true
  for (const [index, child] of node.children.entries()) {
    const background = node.children[index + 1]?.type === '&'
    await walk(walker, child, background ? { ...flow, certain: false } : flow)
  }
}

async function walkCommand(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const words: Word[] = []
  const fed = flow.fed || node.children.some((child) => child.type === 'herestring_redirect')
  for (const child of node.children) {
    if (COMMAND_PARTS.has(child.type) || !child.named) words.push(readHere(walker, child))
    if (child.named) await walk(walker, child, { ...TOP, fed: false, certain: false })
  }
  if (words.length > 0) await startProgram(walker.findings, words, { ...flow, fed }, walker.scanText)
}

async function walkDeclaration(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const words = node.children.map((child) => readHere(walker, child))
  const [name, ...args] = words.map((word) => word.text)
  addSegment(walker.findings, [name ?? '', ...args])
  const reason = opaqueReason(name ?? '', words.slice(1))
  if (reason !== undefined) addReason(walker.findings, reason)
  if (args.some((arg) => /^-\w*n/.test(arg)) && name !== 'unset' && name !== 'export')
    addReason(walker.findings, `${name}: it gives a variable a second name`)
  walker.findings.evaluates = true
  await walkParts(walker, node, flow)
}

async function walkAssignment(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const value = node.children.find((child, index) => index > 0 && child.named && COMMAND_PARTS.has(child.type))
  const name = node.children[0]?.text ?? ''
  const operator = node.children[1]?.text ?? '='
  const word = value === undefined ? undefined : readHere(walker, value)
  const text = operator === '+=' || word === undefined ? node.text : `${name}=${word.text}`
  checkAssignment(walker.findings, {
    text,
    pattern: '',
    dynamic: word?.dynamic === true || operator === '+=',
    approximate: false,
    evaluable: false,
  })
  const subscript = /^(\w+)\[/.exec(name)?.[1]
  if (subscript !== undefined && isDecisive(subscript, undefined))
    addReason(walker.findings, `the variable ${subscript} decides which programs run`)
  await walkParts(walker, node, { ...flow, certain: false })
}

async function walkArithmetic(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  walker.findings.evaluates = true
  await walkParts(walker, node, flow)
}

async function walkExpansion(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { findings } = walker
  if (/@P\s*\}$/.test(node.text)) addReason(findings, 'an expansion that runs the text of a variable')
  const name = /^\s*\$\{[!#]?(\w+)/.exec(node.text)?.[1] ?? ''
  if (node.children.some((child) => child.type === '=' || child.type === ':=') && isDecisive(name, undefined)) {
    addReason(findings, `the variable ${name} decides which programs run`)
  }
  if (node.children.some((child) => child.type === '!' || child.type === ':')) findings.evaluates = true
  await walkParts(walker, node, flow)
}

async function walkTest(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  if (/-(?:v|eq|ne|lt|le|gt|ge)\b/.test(node.text)) walker.findings.evaluates = true
  await walkParts(walker, node, flow)
}

/** `left && right`, `left || right`: what stands left may fail. */
async function walkList(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { findings } = walker
  const operator = node.children.find((child) => !child.named)?.type
  const [left, ...rest] = node.children.filter((child) => child.named)
  const before = findings.places
  const assumed = findings.assumed
  findings.assumed = false
  if (left !== undefined) await walk(walker, left, { ...flow, gates: operator === '&&' || (operator !== '||' && flow.gates) })
  const after = findings.places
  if (operator === '||') addPlaces(findings, before)
  const entered = findings.places
  for (const child of rest) await walk(walker, child, flow)
  if (operator === '||' && findings.places === entered) findings.places = after
  if (findings.assumed && !flow.gates) {
    addPlaces(findings, before)
    findings.assumed = false
  }
  findings.assumed ||= assumed
}

async function walkPipeline(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  for (const [index, child] of node.children.filter((part) => part.named).entries()) {
    await walk(walker, child, { ...flow, certain: false, gates: false, fed: flow.fed || index > 0 })
  }
}

/** Runs in a shell of its own: directory changes end with it. */
async function walkApart(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { places } = walker.findings
  await walkParts(walker, node, { ...TOP, repeats: flow.repeats, fed: flow.fed })
  walker.findings.places = places
}

/** The grammar hangs a redirection on a whole list or pipeline; the shell gives it to the last command. */
async function walkRedirected(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const body = node.children.find((child) => !child.type.endsWith('_redirect'))
  const last = body?.children.findLast((child) => child.named)
  if (body !== undefined && last !== undefined && JOINED.has(body.type)) {
    const children = node.children.map((child) => (child === body ? last : child))
    const inner: ShellNode = { ...node, start: last.start, children }
    return walk(walker, { ...body, end: node.end, children: body.children.map((child) => (child === last ? inner : child)) }, flow)
  }
  const redirects = node.children.filter((child) => child !== body)
  const fed =
    flow.fed || redirects.some((redirect) => /^(?:heredoc|herestring)_redirect$/.test(redirect.type) || redirect.text.includes('<('))
  for (const redirect of redirects) await walk(walker, redirect, flow)
  if (body !== undefined) await walk(walker, body, { ...flow, fed })
}

async function walkFileRedirect(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const operator = node.children.find((child) => !child.named && child.type !== 'file_descriptor')?.type ?? ''
  const targets = node.children.filter((child) => child.named && child.type !== 'file_descriptor')
  if (targets.length > 1) addReason(walker.findings, 'a redirection that is read in more than one way')
  for (const target of targets) {
    await walk(walker, target, { ...flow, certain: false })
    const word = readHere(walker, target)
    if (target.type === 'process_substitution' || (operator.endsWith('&') && /^(?:\d+-?|-)$/.test(word.text))) continue
    await touchWord(walker.findings, word, WRITE_REDIRECTS.has(operator) ? 'write' : 'read')
  }
}

/** The rest of the operator's line hangs below it: what follows `|`, `&&` and further redirections. */
async function walkHeredoc(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  for (const child of node.children) {
    if (WORDS.has(child.type) || child.type === 'simple_expansion') addReason(walker.findings, 'arguments after a here-document operator')
    const fed = child.type === 'pipeline' ? true : flow.fed
    if (child.type === 'pipeline')
      for (const part of child.children) await walk(walker, part, { ...flow, certain: false, gates: false, fed })
    else await walk(walker, child, { ...flow, certain: false, gates: false })
  }
}

async function walkBranch(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  await walkParts(walker, node, { ...flow, certain: false, gates: false })
}

async function walkLoop(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const variable = node.children.find((child) => child.type === 'variable_name')?.text ?? ''
  if (isDecisive(variable, undefined)) addReason(walker.findings, `the variable ${variable} decides which programs run`)
  await walkParts(walker, node, { ...flow, certain: false, gates: false, repeats: true })
}

async function walkFunction(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  walker.findings.defers = true
  await walkParts(walker, node, { ...flow, certain: false, gates: false, repeats: true })
}

function readHere({ findings }: Walker, node: ShellNode): Word {
  const [directory, ...others] = findings.places
  return readWord(node, { home: findings.home, directory: others.length === 0 ? directory : undefined })
}
