/**
 * Arithmetic runs text: a variable in it is evaluated again, and `a[$(command)]` in its value runs the command.
 * So every name in arithmetic must hold whole numbers set on the line (threat-model G1).
 */
import { addReason, type Findings } from './findings.js'
import { isNumber } from './settings.js'
import type { ShellNode } from '../parse/syntax.js'

const EXPRESSION = /^[\w\s+\-*/%<>=!&|^~?:,().#@]*$/
const NAMES = /(?<![\w#])[A-Za-z_]\w*/g
const COMPARISON = /^-(?:eq|ne|lt|le|gt|ge)$/
const PLAIN_NAME = /^[A-Za-z_]\w*$/
/** Operators of `${name…}` after which text or a pattern stands, not arithmetic. */
const TEXTUAL = /^\$\{[#!]?\w+(?:\[[^\]]*\])?(?::?[-=+?]|##?|%%?|\/|\^|,|@|\})/

/** Everything below a node that the shell evaluates as arithmetic. */
export function checkArithmetic(findings: Findings, node: ShellNode): void {
  switch (node.type) {
    case 'do_group':
    case 'command':
      return
    case 'command_substitution':
    case 'process_substitution':
    case 'raw_string':
    case 'ansi_c_string':
    case 'translated_string':
      return addReason(findings, `arithmetic with a value that is only known when it runs: ${node.text}`)
    case 'simple_expansion': {
      const name = node.text.trim().slice(1)
      return checkName(findings, name)
    }
    case 'expansion':
      return checkExpansionValue(findings, node)
    case 'variable_name':
    case 'word':
    case 'number':
    case 'string_content':
    case 'special_variable_name':
      return checkExpression(findings, node.text)
    default:
      for (const child of node.children) checkArithmetic(findings, child)
  }
}

/** Text that stands for an arithmetic expression. */
export function checkExpression(findings: Findings, text: string): void {
  if (!EXPRESSION.test(text)) return addReason(findings, `arithmetic that is not analysed: ${text}`)
  for (const [name] of text.matchAll(NAMES)) checkName(findings, name)
}

/** `[[ a -eq b ]]` evaluates both sides, `-v name` a subscript. */
export function checkTest(findings: Findings, node: ShellNode): void {
  const operator = node.children.find((child) => child.type === 'test_operator')?.text ?? ''
  const operands = node.children.filter((child) => child.named && child.type !== 'test_operator')
  if (COMPARISON.test(operator)) for (const operand of operands) checkArithmetic(findings, operand)
  if (operator === '-v' || operator === '-R') for (const operand of operands) checkVariableName(findings, operand.text)
  for (const operand of operands) if (operand.type.endsWith('_expression')) checkTest(findings, operand)
}

/** A word that names a variable to the shell: with a subscript, that is evaluated. */
export function checkVariableName(findings: Findings, text: string): void {
  if (!/^[A-Za-z_]\w*(?:\[(?:\d+|[@*])\])?$/.test(text)) addReason(findings, `a variable whose name is only known when it runs: ${text}`)
}

/** `${x:offset:length}`, `${x[index]}`: what is arithmetic in an expansion. `${!x}` follows a name that is not known. */
export function checkExpansion(findings: Findings, node: ShellNode): void {
  const { children, text } = node
  if (children.some((child) => child.type === '!') && !/^\$\{!\w+(?:\[[@*]\]|[@*])\}$/.test(text))
    addReason(findings, `it reads a variable whose name is only known when it runs: ${text}`)
  if (TEXTUAL.test(text.replace(/^\s+/, ''))) return
  const colon = children.findIndex((child) => child.type === ':')
  if (colon >= 0) for (const child of children.slice(colon)) checkArithmetic(findings, child)
}

/** The index of `name[index]`. */
export function checkSubscript(findings: Findings, node: ShellNode): void {
  const index = node.children.slice(2, -1)
  if (index.length === 1 && /^[@*]$/.test(index[0]?.text ?? '')) return
  for (const child of index) checkArithmetic(findings, child)
}

/** The value of `${…}` inside arithmetic. */
function checkExpansionValue(findings: Findings, node: ShellNode): void {
  const plain = /^\$\{(#?)(\w+)(?:\[[^\]]*\])?\}$/.exec(node.text.trim())
  if (plain === null) return addReason(findings, `arithmetic with a value that is only known when it runs: ${node.text}`)
  if (plain[1] === '') checkName(findings, plain[2] ?? '')
}

function checkName(findings: Findings, name: string): void {
  if (isNumber(findings.settings, name) && !findings.environment.has(name)) return
  const shown = PLAIN_NAME.test(name) ? name : `$${name}`
  addReason(findings, `arithmetic with ${shown}, which is not set on the line from plain numbers`)
}
