/** Parts of the shell that take the names of variables as arguments: a subscript in such a name is evaluated. */
import { checkExpression, checkVariableName } from '../words/arithmetic.js'
import { splitArguments } from '../programs/arguments.js'
import { addReason, type Findings } from '../words/findings.js'
import { isDecisive, isHarmless } from '../../../machines/permission/shell-variables.js'
import { literalOf, type Word } from '../words/word.js'

/** `name` is the program as it stands on the line; a path is never part of the shell. */
export function checkNamedVariables(findings: Findings, name: string, args: readonly Word[]): void {
  switch (name) {
    case 'read': {
      const { operands, values } = splitArguments(args, ['-d', '-i', '-n', '-N', '-p', '-t', '-u'])
      const arrays = splitArguments(args, ['-a']).values
      return checkNames(findings, [...operands.filter((word) => !values.includes(word)), ...arrays])
    }
    case 'mapfile':
    case 'readarray':
      return checkNames(findings, splitArguments(args, ['-d', '-n', '-O', '-s', '-t', '-u', '-c', '-C']).operands)
    case 'getopts':
      return checkNames(findings, args.slice(1, 2))
    case 'wait':
      return checkNames(findings, splitArguments(args, ['-p']).values)
    case 'printf':
      return checkPrintf(findings, args)
    case 'test':
    case '[':
      return checkTested(findings, args)
    case 'let':
      return checkLet(findings, args)
    case 'unset':
      return checkNames(
        findings,
        args.filter((word) => !/^-[fvn]+$/.test(word.text)),
      )
    case 'export':
    case 'declare':
    case 'typeset':
    case 'local':
    case 'readonly':
      return checkDeclared(findings, name, args)
    default:
  }
}

/** `NAME`, `NAME=value` and options, as arguments of `export` and the like. */
export function checkDeclared(findings: Findings, program: string, args: readonly Word[]): void {
  if (args.some((word) => /^[-+]\w*i/.test(word.text))) addReason(findings, `${program}: it makes every value of a variable arithmetic`)
  if (args.some((word) => /^[-+]\w*[luc]/.test(word.text))) addReason(findings, `${program}: it changes every value of a variable`)
  for (const word of args) {
    if (/^[-+]\w*$/.test(word.text)) continue
    const name = /^[A-Za-z_]\w*(?=\+?=|$)/.exec(word.text)?.[0]
    if (name === undefined || (word.dynamic && word.open)) checkVariableName(findings, word.dynamic ? `$` : word.text)
  }
}

function checkNames(findings: Findings, words: readonly Word[]): void {
  for (const word of words) {
    const literal = literalOf(word)
    checkVariableName(findings, literal ?? word.text)
    if (literal === undefined) continue
    const name = literal.replace(/\[.*$/s, '')
    if (isDecisive(name, undefined) || (findings.environment.has(name) && !isHarmless(name, undefined)))
      addReason(findings, `the variable ${name} may change what programs do`)
  }
}

/** A format that is not known may be `-v name`. */
function checkPrintf(findings: Findings, args: readonly Word[]): void {
  const [first, second] = args
  if (first === undefined || first.text === '--') return
  if (first.dynamic && first.open) return addReason(findings, `printf: its first word may be an option: ${first.text}`)
  if (!first.text.startsWith('-v')) return
  if (first.text !== '-v') checkVariableName(findings, first.text.slice(2))
  else if (second !== undefined) checkNames(findings, [second])
}

function checkTested(findings: Findings, args: readonly Word[]): void {
  for (const [index, word] of args.entries()) {
    if (word.dynamic && word.open && args.length <= 3 && index === 0 && !(args.length === 3 && /^[!=<>-]/.test(args[1]?.text ?? ''))) {
      if (word.splits) addReason(findings, `${word.text} may become an operator`)
    }
    const next = args[index + 1]
    if ((word.text === '-v' || word.text === '-R') && next !== undefined) checkNames(findings, [next])
  }
}

function checkLet(findings: Findings, args: readonly Word[]): void {
  for (const word of args) {
    const literal = literalOf(word)
    if (literal === undefined) addReason(findings, `arithmetic with a value that is only known when it runs: ${word.text}`)
    else {
      checkExpression(findings, literal)
      for (const [name] of literal.matchAll(/[A-Za-z_]\w*(?=\s*[-+*/%&|^]?=(?!=))/g))
        if (isDecisive(name, undefined)) addReason(findings, `the variable ${name} decides which programs run`)
    }
  }
}
