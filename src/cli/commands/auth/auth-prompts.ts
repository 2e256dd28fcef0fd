/**
 * What a provider wants to know before somebody signs in: given with `--input`, or asked at the terminal.
 *
 * I1 What cannot be is told and asked again; what was given with `--input` is refused, and nobody is asked for it.
 * I2 A secret is not shown while it is typed, and never told.
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ProviderAuthPrompt } from '../../../protocol/provider/sign-in.js'
import { askPerson, askSecret, isAttended, writeError } from '../../terminal/output.js'

const FROM_INPUT = 'without a terminal it is what standard input says'

export type Answers = Readonly<Record<string, string>>

/** Answers by the keys of the prompts; of those alone that apply. Throws `request.invalid` for what cannot be, and where nobody can be asked. */
export async function answersTo(prompts: readonly ProviderAuthPrompt[], given: Answers, signal: AbortSignal): Promise<Answers> {
  refuseUnknown(prompts, given)
  const answers: Record<string, string> = {}
  for (const prompt of prompts) {
    if (!isMeant(prompt, answers)) continue
    answers[prompt.key] = given[prompt.key] === undefined ? await asked(prompt, signal) : checked(prompt, given[prompt.key] ?? '')
  }
  return answers
}

/** `name=value` of each `--input`. Throws `request.invalid`. */
export function readInputs(inputs: readonly string[]): Answers {
  return Object.fromEntries(
    inputs.map((input) => {
      const at = input.indexOf('=')
      if (at < 1) throw new SvcError('request.invalid', `--input must be name=value, not "${input}"`)
      return [input.slice(0, at), input.slice(at + 1)]
    }),
  )
}

function refuseUnknown(prompts: readonly ProviderAuthPrompt[], given: Answers): void {
  const keys = prompts.map(({ key }) => key)
  const unknown = Object.keys(given).find((key) => !keys.includes(key))
  if (unknown === undefined) return
  const known = keys.length === 0 ? 'it asks nothing' : `it asks ${keys.join(', ')}`
  throw new SvcError('request.invalid', `--input ${unknown}: the provider does not ask for that; ${known}`)
}

function isMeant({ when }: ProviderAuthPrompt, answers: Answers): boolean {
  return when === undefined || ((answers[when.key] ?? '') === when.value) === (when.op === 'eq')
}

function checked(prompt: ProviderAuthPrompt, answer: string): string {
  if (prompt.secret === true) throw new SvcError('request.invalid', `--input ${prompt.key}: a secret is no argument; ${FROM_INPUT}`)
  const read = valueOf(prompt, answer)
  if ('wrong' in read) throw new SvcError('request.invalid', `--input ${prompt.key}: ${read.wrong}`)
  return read.value
}

async function asked(prompt: ProviderAuthPrompt, signal: AbortSignal): Promise<string> {
  const { key, message, placeholder } = prompt
  if (!isAttended() && prompt.secret !== true)
    throw new SvcError('request.invalid', `the provider asks: ${message}; nobody is here to answer, so give --input ${key}=…`)
  const options = optionsOf(prompt)
  for (const [index, { label, hint }] of options.entries())
    writeError(`  ${index + 1}  ${label}${hint === undefined ? '' : `  (${hint})`}\n`)
  const range = options.length > 0 ? ` (1-${options.length})` : ''
  const example = placeholder === undefined || placeholder === '' ? '' : ` (such as ${placeholder})`
  for (;;) {
    const ask = prompt.secret === true ? askSecret : askPerson
    const typed = await ask(`${message}${prompt.secret === true ? ' (it is not shown)' : ''}${range}${example} `, signal)
    const read = valueOf(prompt, options[Number(typed) - 1]?.value ?? typed)
    if ('value' in read) return read.value
    if (!isAttended()) throw new SvcError('request.invalid', `the provider asks: ${message}; ${read.wrong}; ${FROM_INPUT}`)
    writeError(`${read.wrong}\n`)
  }
}

function optionsOf({ type, options = [] }: ProviderAuthPrompt) {
  return type === 'select' ? options : []
}

function valueOf(prompt: ProviderAuthPrompt, answer: string): { readonly value: string } | { readonly wrong: string } {
  const options = optionsOf(prompt)
  if (prompt.type === 'select') {
    const found = options.find(({ value, label }) => value === answer || label === answer)
    return found === undefined ? { wrong: `it must be one of ${options.map(({ value }) => value).join(', ')}` } : { value: found.value }
  }
  if (answer === '') return { wrong: 'it must not be empty' }
  const most = LIMITS.connections.label
  return answer.length > most ? { wrong: `it has more than ${most} characters` } : { value: answer }
}
