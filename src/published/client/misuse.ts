/** Mistakes of the calling program. Everything here throws a `TypeError` that says what is wrong and what is wanted, before anything is sent. */
import { nearest } from '../../protocol/text/nearest.js'
import type { AttendOptions, ClientOptions, EventOptions, PromptOptions } from './client-types.js'

const CLIENT_OPTIONS: Names<ClientOptions> = { baseUrl: true, token: true, directory: true, fetch: true }
const EVENT_OPTIONS: Names<EventOptions> = { sessionId: true, since: true, tail: true, signal: true, attempts: true }
const PROMPT_OPTIONS: Names<PromptOptions> = {
  onPermission: true,
  onQuestion: true,
  onEvent: true,
  signal: true,
  attends: true,
  abortQueue: true,
  attempts: true,
}

const ATTEND_OPTIONS: Names<AttendOptions> = { onPermission: true, onQuestion: true, signal: true, attempts: true }

type Names<T> = Readonly<Record<keyof T, true>>

export function checkClientOptions(given: unknown): void {
  const options = checkNames('createClient', given, Object.keys(CLIENT_OPTIONS))
  const { baseUrl } = options
  const text = baseUrl instanceof URL ? baseUrl.href : baseUrl
  if (typeof text !== 'string' || !/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new TypeError(`createClient needs baseUrl, an address such as "http://127.0.0.1:4096", and not ${shown(baseUrl)}`)
  }
  checkText('createClient', options, 'token')
  checkText('createClient', options, 'directory')
  checkFunction('createClient', options, 'fetch')
}

export function checkEventOptions(given: unknown): void {
  const options = checkNames('events', given, Object.keys(EVENT_OPTIONS))
  checkText('events', options, 'sessionId')
  const { since } = options
  if (since !== undefined && (!Number.isSafeInteger(since) || Number(since) < 0)) {
    throw new TypeError(`events: since is the sequence number of an event, or 0, and not ${shown(since)}`)
  }
  checkSignal('events', options)
}

/** `request`: what `prompt` was given, a text or a request. */
export function checkPrompt(sessionId: unknown, request: unknown, given: unknown): void {
  if (typeof sessionId !== 'string' || sessionId === '')
    throw new TypeError(`prompt needs the id of a session, and not ${shown(sessionId)}`)
  if (typeof request !== 'string' && !isRecord(request)) throw new TypeError(`prompt needs a text or a request, and not ${shown(request)}`)
  const options = checkNames('prompt', given, Object.keys(PROMPT_OPTIONS))
  for (const name of ['onPermission', 'onQuestion', 'onEvent']) checkFunction('prompt', options, name)
  checkSignal('prompt', options)
}

export function checkAttend(sessionId: unknown, given: unknown): void {
  if (typeof sessionId !== 'string' || sessionId === '')
    throw new TypeError(`attend needs the id of a session, and not ${shown(sessionId)}`)
  const options = checkNames('attend', given, Object.keys(ATTEND_OPTIONS))
  for (const name of ['onPermission', 'onQuestion']) checkFunction('attend', options, name)
  if (options['signal'] === undefined) throw new TypeError('attend needs a signal: it goes on until that is aborted')
  checkSignal('attend', options)
}

/** Throws unless it is an object whose fields all have one of these names. */
export function checkNames(what: string, given: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isRecord(given)) throw new TypeError(`${what} takes one object with ${names.join(', ')}, and not ${shown(given)}`)
  const unknown = Object.keys(given).find((name) => !names.includes(name) && given[name] !== undefined)
  if (unknown === undefined) return given
  const near = nearest(unknown, names)
  throw new TypeError(`${what} takes no ${unknown}${near === undefined ? `; it takes ${names.join(', ')}` : `: did you mean ${near}?`}`)
}

function checkText(what: string, options: Readonly<Record<string, unknown>>, name: string): void {
  const value = options[name]
  if (value !== undefined && typeof value !== 'string') throw new TypeError(`${what}: ${name} is a text, and not ${shown(value)}`)
}

function checkFunction(what: string, options: Readonly<Record<string, unknown>>, name: string): void {
  const value = options[name]
  if (value !== undefined && typeof value !== 'function') throw new TypeError(`${what}: ${name} is a function, and not ${shown(value)}`)
}

function checkSignal(what: string, { signal }: Readonly<Record<string, unknown>>): void {
  const isSignal = signal === undefined || (isRecord(signal) && typeof signal['addEventListener'] === 'function')
  if (!isSignal) throw new TypeError(`${what}: signal is the signal of an AbortController, and not ${shown(signal)}`)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'a list' : 'an object') : String(value)
}
