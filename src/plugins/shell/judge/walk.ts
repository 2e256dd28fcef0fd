/**
 * Walks the syntax tree of one shell text and records every program it would start, every redirection and
 * every directory change, in the order they happen. A construct that is not listed here is not understood.
 */
import { addAssigned, dropAssigned, inAll, within, without } from '../words/assigned.js'
import { addPlaces, addReason, addSegment, type Findings, type Flow, TOP } from '../words/findings.js'
import { checkArithmetic, checkExpansion, checkSubscript, checkTest } from '../words/arithmetic.js'
import { noteRedirect } from '../words/descriptors.js'
import { pathsFound } from './found-files.js'
import { checkDeclared, checkNamedVariables } from './named-variables.js'
import { checkExported, type ScanText, startProgram } from './programs.js'
import { mayBeList, textsOf } from '../words/settings.js'
import { explicitReason } from '../programs/table.js'
import type { ShellNode } from '../parse/syntax.js'
import { touchWord } from '../words/touch.js'
import { isDecisive, isHarmless } from '../../../machines/permission/shell-variables.js'
import { readWord, shownWord, spread, unescape, type Word, type WordContext } from '../words/word.js'

type Walk = (walker: Walker, node: ShellNode, flow: Flow) => Promise<void>

export interface Walker {
  readonly findings: Findings
  readonly scanText: ScanText
}

/** Nodes that only hold other nodes: words, expressions, and lists that run their parts in order. */
const TRANSPARENT =
  'program concatenation translated_string regex extglob_pattern number variable_name special_variable_name test_operator binary_expression unary_expression ternary_expression postfix_expression parenthesized_expression brace_expression heredoc_body heredoc_content heredoc_start heredoc_end file_descriptor string_content simple_expansion negated_command variable_assignments comment herestring_redirect command_name do_group word string raw_string ansi_c_string'
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
/** It cannot fail; before another one, what it is written to may not run. */
const SURE_REDIRECT = /^(?:\d?>>?|&>>?) ?\/dev\/null$|^2>&1$/
const WRITE_REDIRECTS = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&'])

const HANDLERS: ReadonlyMap<string, Walk> = new Map<string, Walk>([
  ...TRANSPARENT.split(' ').map((type): [string, Walk] => [type, walkParts]),
  ['command', walkCommand],
  ['declaration_command', walkDeclaration],
  ['unset_command', walkDeclaration],
  ['variable_assignment', walkAssignment],
  ['subscript', walkSubscript],
  ['array', walkArray],
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

/** Nodes walked before others have their turn. */
const AT_ONCE = 256

/** Walks one node and everything below it. */
export async function walk(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  walker.findings.walked += 1
  if (walker.findings.walked % AT_ONCE === 0) await walker.findings.pause()
  if (walker.findings.isLate()) return addReason(walker.findings, 'it takes too long to judge')
  const handler = HANDLERS.get(node.type)
  if (handler !== undefined) return handler(walker, node, flow)
  if (node.named) addReason(walker.findings, `it uses a construct that is not analysed: ${node.type}`)
}

async function walkParts(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  if (WORDS.has(node.type) && readHere(walker, node).evaluable) walker.findings.evaluable = true
  const last = node.type === 'negated_command' ? undefined : node.children.findLast((child) => child.named)
  for (const [index, child] of node.children.entries()) {
    const how = flow.gates && child !== last ? { ...flow, gates: false } : flow
    if (node.children[index + 1]?.type === '&')
      await within(walker.findings, () => walk(walker, child, { ...how, certain: false, gates: false }))
    else await walk(walker, child, how)
  }
}

async function walkCommand(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { findings } = walker
  const words: Word[] = []
  const fed = flow.fed || node.children.some((child) => child.type === 'herestring_redirect')
  for (const child of node.children) {
    if (COMMAND_PARTS.has(child.type) || !child.named) words.push(...spread(readHere(walker, child)))
    if (/^\{\w+(?:\[.*\])?\}$/s.test(child.text)) addReason(findings, 'a redirection that may set a variable')
    if (child.type === 'variable_assignment') checkExported(findings, assignmentWord(walker, child))
    if (child.named) await within(findings, () => walk(walker, child, { ...TOP, fed: false, certain: false }))
  }
  if (words.length > 0) await startProgram(findings, words, { ...flow, fed }, walker.scanText)
}

async function walkDeclaration(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { findings } = walker
  const words = node.children.map((child) =>
    child.type === 'variable_assignment' ? assignmentWord(walker, child) : readHere(walker, child),
  )
  const name = words[0]?.text ?? ''
  const args = words.slice(1)
  addSegment(findings, words.map(shownWord))
  const reason = explicitReason(name, args)
  if (reason !== undefined) addReason(findings, reason)
  const flags = args.map((word) => word.text).filter((text) => /^[-+]\w+$/.test(text))
  if (flags.some((flag) => flag.includes('n')) && name !== 'unset' && name !== 'export')
    addReason(findings, `${name}: it gives a variable a second name`)
  if (name === 'unset') checkNamedVariables(findings, name, args)
  else checkDeclared(findings, name, args)
  if ((name === 'export' && !flags.includes('-n')) || flags.some((flag) => flag.includes('x'))) exportWords(walker, args)
  findings.evaluates = true
  for (const child of node.children) if (child.type === 'variable_assignment') checkDeclaredList(walker, child)
  const keyed = flags.some((flag) => flag.includes('A'))
  for (const child of node.children) {
    const list = keyed && child.type === 'variable_assignment' ? child.children.find(({ type }) => type === 'array') : undefined
    await (list?.children.every(isKeyed) === true ? walkParts(walker, list, flow) : walk(walker, child, flow))
    if (child.type === 'variable_name' || (name === 'local' && flow.called !== true))
      dropAssigned(findings, /^\w*/.exec(child.text)?.[0] ?? '')
  }
}

/** `declare list=value` reads a value in parentheses as a list. */
function checkDeclaredList(walker: Walker, node: ShellNode): void {
  const [target, , value] = node.children
  const name = /^\w*/.exec(target?.text ?? '')?.[0] ?? ''
  if (value === undefined || value.type === 'array' || !mayBeList(walker.findings.settings, name)) return
  const word = readHere(walker, value)
  if (word.open || word.text.startsWith('('))
    addReason(walker.findings, `a list with a value that is only known when it runs: ${node.text}`)
}

/** An entry with a text as its key, complete in one word. */
function isKeyed({ named, text }: ShellNode): boolean {
  return !named || /^\[[^[\]]+\]=/.test(text)
}

/** `export NAME` hands on what the line gave the name, if it did. */
function exportWords({ findings }: Walker, args: readonly Word[]): void {
  for (const word of args) {
    if (word.text.includes('=')) checkExported(findings, word)
    else if (findings.settings.has(word.text)) {
      const texts = textsOf(findings.settings, word.text)?.map(unescape)
      if (texts === undefined || !texts.every((text) => isHarmless(word.text, text)))
        addReason(findings, `the variable ${word.text} may change what programs do`)
    }
  }
}

async function walkAssignment(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { findings } = walker
  const word = assignmentWord(walker, node)
  const name = /^\w*/.exec(word.text)?.[0] ?? ''
  const value = word.dynamic || word.approximate ? undefined : word.text.slice(name.length + 1)
  if (isDecisive(name, value)) addReason(findings, `the variable ${name} decides which programs run`)
  else if (findings.environment.has(name)) checkExported(findings, word)
  await walkParts(walker, node, { ...flow, certain: false })
  addAssigned(findings, name)
}

/** `NAME=value` as one word; what is added to a value is not known. */
function assignmentWord(walker: Walker, node: ShellNode): Word {
  const value = node.children.find((child, index) => index > 0 && child.named && COMMAND_PARTS.has(child.type))
  const word = value === undefined ? undefined : readHere(walker, value)
  const name = node.children[0]?.text ?? ''
  const known = word !== undefined && node.children[1]?.type === '=' && node.children[0]?.type === 'variable_name'
  const empty = value === undefined && node.children.length === 2
  return {
    text: known ? `${name}=${word.text}` : node.text,
    pattern: '',
    dynamic: empty ? false : !known || word.dynamic,
    approximate: word?.approximate === true,
    open: false,
    splits: false,
    evaluable: false,
  }
}

/** `[index]=value` in a list: the index is arithmetic, unless keys are texts. */
async function walkArray(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  for (const { text } of node.children)
    if (text.startsWith('[') && !/^\[\d+\]\+?=/.test(text)) addReason(walker.findings, `a list with an index that is not a number: ${text}`)
  await walkParts(walker, node, flow)
}

async function walkArithmetic(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { findings } = walker
  findings.evaluates = true
  checkArithmetic(findings, node)
  checkDecisive(findings, node)
  await walkParts(walker, node, flow)
}

/** Arithmetic assigns, too. */
function checkDecisive(findings: Findings, node: ShellNode): void {
  for (const name of new Set(node.text.match(/[A-Za-z_]\w*/g))) {
    const set = findings.settings.get(name)?.some((setting) => setting.kind !== 'mentioned') === true
    if (set && isDecisive(name, undefined)) addReason(findings, `the variable ${name} decides which programs run`)
    if (set && findings.environment.has(name)) addReason(findings, `the variable ${name} may change what programs do`)
  }
}

async function walkSubscript(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  walker.findings.evaluates = true
  checkSubscript(walker.findings, node)
  await walkParts(walker, node, flow)
}

async function walkExpansion(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { findings } = walker
  if (/@P\s*\}$/.test(node.text)) addReason(findings, 'an expansion that runs the text of a variable')
  const name = /^\s*\$\{[!#]?(\w+)/.exec(node.text)?.[1] ?? ''
  if (node.children.some((child) => child.type === '=' || child.type === ':=')) {
    if (isDecisive(name, undefined)) addReason(findings, `the variable ${name} decides which programs run`)
    else if (findings.environment.has(name)) addReason(findings, `the variable ${name} may change what programs do`)
  }
  if (node.children.some((child) => child.type === '!' || child.type === ':')) findings.evaluates = true
  checkExpansion(findings, node)
  await walkParts(walker, node, flow)
}

async function walkTest(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  if (/-(?:v|eq|ne|lt|le|gt|ge)\b/.test(node.text)) walker.findings.evaluates = true
  if (node.text.startsWith('[[')) for (const child of node.children) checkTest(walker.findings, child)
  else
    checkNamedVariables(
      walker.findings,
      '[',
      leavesOf(node).map((leaf) => readHere(walker, leaf)),
    )
  await walkParts(walker, node, flow)
}

/** The words of `[ … ]`, whose operators the grammar nests. */
function leavesOf(node: ShellNode): ShellNode[] {
  return node.children.flatMap((child) => (child.type.endsWith('_expression') ? leavesOf(child) : [child]))
}

/** `left && right`, `left || right`: what stands left may fail, and what stands right may not run. */
async function walkList(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { findings } = walker
  const operator = node.children.find((child) => !child.named)?.type
  const [left, ...rest] = node.children.filter((child) => child.named)
  const { places: before, assigned } = findings
  const assumed = findings.assumed
  findings.assumed = false
  if (left !== undefined) await walk(walker, left, { ...flow, gates: operator === '&&' })
  const after = findings.places
  if (operator === '||') addPlaces(findings, before)
  const entered = findings.places
  for (const child of rest) await walk(walker, child, operator === '||' ? { ...flow, certain: false, gates: false } : flow)
  if (operator === '||' && findings.places === entered) findings.places = after
  else if (findings.places !== entered) findings.assumed = true
  if (findings.assumed && !flow.gates) {
    addPlaces(findings, before)
    findings.assumed = false
  }
  findings.assumed ||= assumed
  if (!flow.gates || operator === '||') findings.assigned = assigned
}

async function walkPipeline(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const parts = node.children.filter((part) => part.named)
  const carriesErrors = node.children.some(({ type }) => type === '|&')
  for (const [index, child] of parts.entries()) {
    const before = takesInput(child) && !carriesErrors ? commandOf(parts[index - 1]) : undefined
    const words = before?.children.flatMap((part) => spread(readHere(walker, part)))
    const found = words === undefined || flow.repeats ? undefined : await pathsFound(walker.findings, words)
    await within(walker.findings, () => walk(walker, child, { ...flow, certain: false, gates: false, fed: flow.fed || index > 0, found }))
  }
}

function takesInput(node: ShellNode): boolean {
  return node.type === 'command' && !node.children.some(({ type }) => type.endsWith('_redirect'))
}

/** The command of a part of a pipeline, when its output goes nowhere else. */
function commandOf(node: ShellNode | undefined): ShellNode | undefined {
  if (node?.type !== 'redirected_statement') return node?.type === 'command' ? node : undefined
  const [command, ...redirects] = node.children
  return command?.type === 'command' && redirects.every(({ text }) => text === '2>/dev/null' || text === '2> /dev/null')
    ? command
    : undefined
}

/** Runs in a shell of its own: directory changes end with it. */
async function walkApart(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const { places } = walker.findings
  await within(walker.findings, () => walkParts(walker, node, { ...TOP, repeats: flow.repeats, fed: flow.fed }))
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
  if (body === undefined) return
  const { places } = walker.findings
  await within(walker.findings, () => walk(walker, body, { ...flow, fed }))
  if (!redirects.every(({ text }) => SURE_REDIRECT.test(text)) && walker.findings.places !== places) addPlaces(walker.findings, places)
}

async function walkFileRedirect(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const operator = node.children.find((child) => !child.named && child.type !== 'file_descriptor')?.type ?? ''
  const targets = node.children.filter((child) => child.named && child.type !== 'file_descriptor')
  if (targets.length > 1 || (targets.length > 0 && operator.endsWith('-')))
    addReason(walker.findings, 'a redirection that is read in more than one way')
  noteRedirect(walker.findings, node, operator)
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
  const { findings } = walker
  const { assigned } = findings
  const ends: ReadonlySet<string>[] = []
  for (const child of node.children) {
    if (/^(?:elif_clause|else_clause|case_item)$/.test(child.type)) {
      ends.push(findings.assigned)
      findings.assigned = assigned
    }
    await walk(walker, child, { ...flow, certain: false, gates: false })
  }
  if (/^(?:if_statement|case_statement|case_item)$/.test(node.type))
    findings.assigned = node.children.some(({ type }) => type === 'else_clause') ? inAll([...ends, findings.assigned]) : assigned
}

async function walkLoop(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  const variable = node.children.find((child) => child.type === 'variable_name')?.text ?? ''
  if (isDecisive(variable, undefined)) addReason(walker.findings, `the variable ${variable} decides which programs run`)
  else if (walker.findings.environment.has(variable)) addReason(walker.findings, `the variable ${variable} may change what programs do`)
  await within(walker.findings, async () => {
    if (variable !== '') addAssigned(walker.findings, variable)
    await walkParts(walker, node, { ...flow, certain: false, gates: false, repeats: true })
  })
}

async function walkFunction(walker: Walker, node: ShellNode, flow: Flow): Promise<void> {
  walker.findings.defers = true
  const called = { ...flow, certain: false, gates: false, repeats: true, called: true }
  await without(walker.findings, () => walkParts(walker, node, called))
}

function readHere({ findings }: Walker, node: ShellNode): Word {
  return readWord(node, contextOf(findings))
}

/** What is known here of the variables of the line. */
function contextOf(findings: Findings): WordContext {
  const [directory, ...others] = findings.places
  return {
    home: findings.home,
    directory: others.length === 0 ? directory : undefined,
    textsOf: (name) => (findings.environment.has(name) || !findings.assigned.has(name) ? undefined : textsOf(findings.settings, name)),
  }
}
