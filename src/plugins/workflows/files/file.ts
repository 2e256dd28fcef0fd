/** Workflow files: text to definition with a diagnostic for every mistake, and back (service.md, Scheduled workflow file; subsystems a.2–a.4). */
import { stringify } from 'yaml'
import { LIMITS } from '../../../protocol/limits.js'
import type { WorkflowDefinition, WorkflowSchedule } from '../../../protocol/workflow/workflow.js'
import type { Reading } from '../../../kernel/work.js'
import { FIELDS, readDefinition } from './definition.js'
import { type Diagnostic, readFrontmatter } from './frontmatter.js'

export type ParsedFile =
  | { readonly ok: true; readonly definition: WorkflowDefinition }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * The definition of a file in its normal form, or what is wrong with it: one diagnostic for each mistake, by line. The zone
 * of the schedule stays `local` when it is written so: see `inZone`.
 */
export function* parseWorkflowFile(text: string): Reading<ParsedFile> {
  if (text.length > LIMITS.workflows.fileBytes) {
    return { ok: false, diagnostics: [{ message: `the file is larger than ${LIMITS.workflows.fileBytes} bytes` }] }
  }
  const read = yield* readFrontmatter(text)
  if (!read.ok) return read
  const { value, body, lineOf } = read.frontmatter
  const named = typeof value === 'object' && value !== null && 'prompt' in value
  const { definition, mistakes } = readDefinition(named ? value : { ...asFields(value), prompt: body })
  const diagnostics = mistakes.map(({ path, message }) => ({ line: lineOf(path), message }))
  if (named)
    diagnostics.unshift({ line: lineOf(['prompt']), message: 'prompt is no field of a file: the prompt is the text after the frontmatter' })
  if (definition !== undefined && !named) return { ok: true, definition }
  return { ok: false, diagnostics: diagnostics.toSorted((a, b) => a.line - b.line).slice(0, LIMITS.workflows.diagnostics) }
}

/** The text of a definition in its normal form: the same definition gives the same bytes, and what is default is left out. */
export function serialiseWorkflow(definition: WorkflowDefinition): string {
  const { model, retry, concurrency, ...rest } = definition
  const fields: Readonly<Record<string, unknown>> = {
    ...rest,
    schedule: scheduleFields(definition.schedule),
    model: model && { providerId: model.providerId, modelId: model.id, variant: model.variant, connectionId: model.connectionId },
    retry: retry && unlessDefault(retry, { maxAttempts: 1, backoff: 'fixed', initialDelayMs: 0, maxDelayMs: 0 }),
    concurrency: concurrency && unlessDefault(concurrency, { mode: 'forbid', maxRunning: 1 }),
  }
  const ordered = FIELDS.flatMap((field) => (fields[field] === undefined ? [] : [[field, withoutAbsent(fields[field])] as const]))
  const yaml = stringify(Object.fromEntries(ordered), { version: '1.2', schema: 'core', lineWidth: 0, aliasDuplicateObjects: false })
  return `---\n${yaml}---\n\n${definition.prompt}\n`
}

function scheduleFields(schedule: WorkflowSchedule): Readonly<Record<string, unknown>> {
  const { at, date, frequency, interval, minute, weekdays, monthDay, time, timezone } = schedule
  const zone = timezone === 'UTC' ? undefined : timezone
  if (at !== undefined) return { at }
  const end = { time: time === '00:00' ? undefined : time, timezone: zone }
  if (frequency === 'once') return { date, ...end }
  return { frequency, ...unlessDefault({ interval, minute, weekdays, monthDay }, { interval: 1, minute: 0, monthDay: 1 }), ...end }
}

function unlessDefault(
  fields: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isDefault = (name: string, value: unknown) => value === defaults[name] || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !isDefault(name, value)))
}

function withoutAbsent(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}
