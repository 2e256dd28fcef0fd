/** The definition of a workflow, from a file or from HTTP, in its normal form (service.md, Scheduled workflow file; subsystems a.3). */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ModelRef } from '../../../protocol/message/message.js'
import type {
  WorkflowConcurrencyPolicy,
  WorkflowDefinition,
  WorkflowDefinitionPatch,
  WorkflowRetryPolicy,
} from '../../../protocol/workflow/workflow.js'
import { type Fields, readBoolean, readChoice, readInteger, readMapping, readText, readTexts } from './fields.js'
import { readPermissions } from './permission-fields.js'
import { type Mistakes, noMistakes, type Path, shown } from './problems.js'
import { readSchedule } from './schedule-fields.js'

/** In the order in which files are written. */
export const FIELDS = [
  'id',
  'name',
  'active',
  'schedule',
  'directory',
  'agent',
  'model',
  'skill',
  'permissions',
  'retry',
  'concurrency',
] as const

const ID = /^[a-z0-9][a-z0-9._-]*$/
/** Ids of workflows that are made here, which are also names of files. */
export const MANAGED_ID = /^[a-z][a-z0-9._-]{0,79}$/
const MOST = Number.MAX_SAFE_INTEGER

/** The definition in its normal form, or every mistake. `given` holds the fields of the frontmatter and `prompt`. */
export function readDefinition(given: unknown): {
  readonly definition: WorkflowDefinition | undefined
  readonly mistakes: Mistakes['found']
} {
  const mistakes = noMistakes()
  const fields = readMapping(given, [], [...FIELDS, 'prompt'], mistakes)
  const definition = fields && readAll(fields, mistakes)
  return { definition: mistakes.found.length === 0 ? definition : undefined, mistakes: mistakes.found }
}

/** A definition that came by HTTP, in its normal form. Throws `management.invalid_request` with every mistake. */
export function validateDefinition(given: WorkflowDefinition, options: { readonly isNew: boolean }): WorkflowDefinition {
  const { definition, mistakes } = readDefinition(given)
  const idMistake = options.isNew && !MANAGED_ID.test(given.id) ? [{ path: ['id'], message: MANAGED_ID_RULE }] : []
  const all = [...mistakes, ...idMistake]
  const [first] = all
  if (definition !== undefined && first === undefined) return definition
  const issues = all.map(({ path, message }) => ({ path: ['body', ...path].join('.'), message }))
  throw new SvcError('management.invalid_request', first?.message, { issues })
}

/** A definition with the fields of a patch in place; null removes. Throws `management.invalid_request`. */
export function patchDefinition(definition: WorkflowDefinition, patch: WorkflowDefinitionPatch): WorkflowDefinition {
  if (patch.id !== undefined && patch.id !== definition.id) {
    throw new SvcError('management.invalid_request', `id cannot be changed: it is "${definition.id}"`)
  }
  const merged = Object.entries({ ...definition, ...withoutUndefined(patch) }).filter(([, value]) => value !== null)
  // What a patch may hold has the types of a definition; `validateDefinition` looks at every field again.
  return validateDefinition(Object.fromEntries(merged) as WorkflowDefinition, { isNew: false })
}

const MANAGED_ID_RULE = 'id must be 1 to 80 lower-case letters, digits, ".", "_" or "-", beginning with a letter'

function withoutUndefined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function readAll(fields: Fields, mistakes: Mistakes): WorkflowDefinition | undefined {
  const given = <T>(field: string, read: (value: unknown, path: Path, mistakes: Mistakes) => T | undefined): T | undefined =>
    fields[field] === undefined ? undefined : read(fields[field], [field], mistakes)
  const required = <T>(field: string, read: (value: unknown, path: Path, mistakes: Mistakes) => T | undefined): T | undefined =>
    fields[field] === undefined ? mistakes.add([], `needs the field "${field}"`) : read(fields[field], [field], mistakes)

  const id = required('id', readId)
  const name = required('name', (value, path) => readText(value, path, mistakes, LIMITS.workflows.nameLength)?.trim())
  const active = given('active', readBoolean) ?? false
  const schedule = required('schedule', readSchedule)
  const prompt = readPrompt(fields['prompt'], mistakes)
  const optional = {
    directory: given('directory', readDirectory),
    agent: given('agent', readText),
    model: given('model', readModel),
    skill: given('skill', readText),
    permissions: given('permissions', readPermissions),
    retry: given('retry', readRetry),
    concurrency: given('concurrency', readConcurrency),
  }
  if (id === undefined || name === undefined || schedule === undefined || prompt === undefined) return undefined
  return { id, name, active, schedule, prompt, ...present(optional) }
}

/** The fields that are there. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

function readId(value: unknown, path: Path, mistakes: Mistakes): string | undefined {
  const id = readText(value, path, mistakes, LIMITS.workflows.idLength)
  if (id === undefined || ID.test(id)) return id
  return mistakes.add(path, `must be lower-case letters, digits, ".", "_" or "-", beginning with a letter or digit, not ${shown(value)}`)
}

function readPrompt(value: unknown, mistakes: Mistakes): string | undefined {
  const prompt = typeof value === 'string' ? value.replaceAll('\r\n', '\n').trim() : ''
  return prompt === '' ? mistakes.add([], 'needs a prompt: the text after the frontmatter') : prompt
}

function readDirectory(value: unknown, path: Path, mistakes: Mistakes): string | undefined {
  const directory = readText(value, path, mistakes)
  if (directory === undefined) return undefined
  if (directory.includes('\0')) return mistakes.add(path, 'cannot contain a NUL character')
  const isRelative = !directory.startsWith('/') && directory !== '~' && !directory.startsWith('~/')
  if (isRelative && directory.split('/').includes('..'))
    return mistakes.add(path, `cannot leave its default directory by "..": ${shown(value)}`)
  return directory
}

/** Files say `modelId`, HTTP says `id`; both are taken (choice 7). */
function readModel(value: unknown, path: Path, mistakes: Mistakes): ModelRef | undefined {
  const fields = readMapping(value, path, ['providerId', 'modelId', 'id', 'variant', 'connectionId'], mistakes)
  if (fields === undefined) return undefined
  const spelling = fields['id'] === undefined ? 'modelId' : 'id'
  if (fields['id'] !== undefined && fields['modelId'] !== undefined)
    mistakes.add(path, 'has both "modelId" and "id", which are the same field')
  const text = (field: string) => readText(fields[field], [...path, field], mistakes)
  const optional = (field: string) => (fields[field] === undefined ? undefined : text(field))
  const [id, providerId] = [text(spelling), text('providerId')]
  if (id === undefined || providerId === undefined) return undefined
  return { id, providerId, ...present({ connectionId: optional('connectionId'), variant: optional('variant') }) }
}

function readRetry(value: unknown, path: Path, mistakes: Mistakes): WorkflowRetryPolicy | undefined {
  const names = ['maxAttempts', 'backoff', 'initialDelayMs', 'maxDelayMs', 'retryableErrors'] as const
  const fields = readMapping(value, path, names, mistakes)
  if (fields === undefined) return undefined
  const at = (name: (typeof names)[number]): Path => [...path, name]
  const integer = (name: (typeof names)[number], least: number) =>
    fields[name] === undefined ? least : (readInteger(fields[name], at(name), mistakes, [least, MOST]) ?? least)
  const policy: WorkflowRetryPolicy = {
    maxAttempts: integer('maxAttempts', 1),
    backoff:
      fields['backoff'] === undefined
        ? 'fixed'
        : (readChoice(fields['backoff'], at('backoff'), mistakes, ['fixed', 'exponential']) ?? 'fixed'),
    initialDelayMs: integer('initialDelayMs', 0),
    maxDelayMs: integer('maxDelayMs', 0),
    retryableErrors:
      fields['retryableErrors'] === undefined ? [] : (readTexts(fields['retryableErrors'], at('retryableErrors'), mistakes, 100) ?? []),
  }
  if (policy.maxDelayMs > 0 && policy.maxDelayMs < policy.initialDelayMs) {
    mistakes.add(at('maxDelayMs'), `must be 0 or at least initialDelayMs (${policy.initialDelayMs}), not ${policy.maxDelayMs}`)
  }
  return policy
}

function readConcurrency(value: unknown, path: Path, mistakes: Mistakes): WorkflowConcurrencyPolicy | undefined {
  const fields = readMapping(value, path, ['mode', 'maxRunning'], mistakes)
  if (fields === undefined) return undefined
  const mode =
    fields['mode'] === undefined ? 'forbid' : readChoice(fields['mode'], [...path, 'mode'], mistakes, ['forbid', 'replace', 'allow'])
  const maxRunning =
    fields['maxRunning'] === undefined ? 1 : readInteger(fields['maxRunning'], [...path, 'maxRunning'], mistakes, [1, MOST])
  if (mode === undefined || maxRunning === undefined) return undefined
  if (maxRunning !== 1 && mode !== 'allow') mistakes.add([...path, 'maxRunning'], `must be 1 unless mode is allow, not ${maxRunning}`)
  return { mode, maxRunning }
}
