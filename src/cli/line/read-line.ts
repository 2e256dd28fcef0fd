/** A command line read by its page. Pure; throws a sentence when it cannot be understood. */
import { parseArgs } from 'node:util'
import { meant } from './nearest.js'
import type { Group, Option, Page } from './page.js'

type ValueOf<O> = O extends { readonly type: 'flag' }
  ? boolean
  : O extends { readonly type: 'number' }
    ? number | undefined
    : O extends { readonly multiple: true }
      ? readonly string[]
      : O extends { readonly choices: readonly (infer C)[] }
        ? C | undefined
        : string | undefined

export interface Line<P extends Page> {
  readonly values: { readonly [K in keyof P['options']]: ValueOf<P['options'][K]> }
  readonly words: readonly string[]
  /** The first word; what the page needs is there. */
  readonly first: string
}

export function readLine<const P extends Page>(page: P, args: readonly string[]): Line<P> {
  const options = Object.fromEntries(Object.entries<Option>(page.options).map(([name, option]) => [name, nativeOption(option)]))
  const { tokens } = parseArgs({
    args: unalias(page, args),
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const given = new Map<string, (string | true)[]>()
  const words: string[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'positional') words.push(refuseAnswer(page, token, tokens[index - 1]))
    if (token.kind !== 'option') continue
    const option = page.options[token.name]
    if (option === undefined) throw new Error(unknownOption(page, token.name, token.rawName))
    given.set(token.name, [...(given.get(token.name) ?? []), typedValue(token.name, option, token.value, token.inlineValue === true)])
  }
  checkWords(page, words)
  const values = Object.fromEntries(
    Object.entries<Option>(page.options).map(([name, option]) => [name, valueOf(name, option, given.get(name))]),
  )
  return { values: values as Line<P>['values'], words, first: words[0] ?? '' }
}

/** The page of an action. */
export function pageOf<const G extends Group>(group: G, action: string | undefined): G['pages'][number] {
  const found: G['pages'][number] | undefined = group.pages.find(({ name }) => name === `${group.name} ${action}`)
  if (found !== undefined) return found
  const actions = group.pages.map(({ name }) => name.slice(group.name.length + 1))
  const instead = action === undefined ? '' : `, not "${action}"${meant(action, actions)}`
  throw new Error(`svc ${group.name} needs one of ${actions.join(', ')}${instead}`)
}

function nativeOption({ type, short }: Option): { type: 'string' | 'boolean'; short?: string } {
  return { type: type === 'flag' ? 'boolean' : 'string', ...(short !== undefined && { short }) }
}

function unalias({ options }: Page, args: readonly string[]): string[] {
  const aliases = new Map(
    Object.entries(options).flatMap(([name, { alias }]) => (alias === undefined ? [] : [[`--${alias}`, `--${name}`]])),
  )
  const end = args.indexOf('--')
  return args.map((arg, index) => {
    if (end >= 0 && index > end) return arg
    const [name = '', ...rest] = arg.split('=')
    return [aliases.get(name) ?? name, ...rest].join('=')
  })
}

function unknownOption({ name: command, options }: Page, name: string, raw: string): string {
  return `svc ${command} has no option ${raw}${meant(name, Object.keys(options), (near) => `--${near}`)}`
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number]

/** Words that somebody means as the value of the option before them. */
const ANSWERS = new Set('true false on off allow deny reject ask once always never'.split(' '))

/** The word, unless it looks like the value of a flag that has none: it would become part of what is asked. */
function refuseAnswer({ options }: Page, { value, index }: Extract<Token, { kind: 'positional' }>, before: Token | undefined): string {
  const isAfterFlag = before?.kind === 'option' && before.index === index - 1 && options[before.name]?.type === 'flag'
  if (isAfterFlag && before.rawName.startsWith('--') && ANSWERS.has(value))
    throw new Error(`${before.rawName} takes no value; write -- before "${value}" where it is a word of its own`)
  return value
}

function typedValue(name: string, option: Option, value: string | undefined, isInline: boolean): string | true {
  if (option.type === 'flag') {
    if (value !== undefined) throw new Error(`--${name} takes no value`)
    return true
  }
  if (value === undefined || (!isInline && /^-./.test(value))) throw new Error(`--${name} needs a value: --${name} <${option.value}>`)
  return value
}

function valueOf(name: string, option: Option, given: readonly (string | true)[] | undefined): unknown {
  if (option.type === 'flag') return given !== undefined
  const values = (given ?? []).map(String)
  if (option.type === 'number') return values.length === 0 ? undefined : readNumber(name, option, values.at(-1) ?? '')
  const wrong = option.choices === undefined ? undefined : values.find((value) => option.choices?.includes(value) === false)
  if (wrong !== undefined) throw new Error(`--${name} must be ${list(option.choices ?? [])}, not "${wrong}"`)
  return option.multiple === true ? values : values.at(-1)
}

function readNumber(name: string, { least, most }: Extract<Option, { type: 'number' }>, value: string): number {
  const number = Number(value)
  if (/^\d{1,15}$/.test(value) && number >= least && number <= most) return number
  throw new Error(`--${name} must be a number from ${least} to ${most}, not "${value}"`)
}

function checkWords({ name, words }: Page, given: readonly string[]): void {
  for (const [index, { needs }] of words.entries()) {
    if (needs !== undefined && (given[index] ?? '') === '') throw new Error(`svc ${name} needs ${needs}`)
  }
  const extra = words.at(-1)?.many === true ? undefined : given[words.length]
  if (extra !== undefined) throw new Error(`svc ${name} does not know what to do with "${extra}"`)
}

/** `a, b or c`. */
function list(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}
