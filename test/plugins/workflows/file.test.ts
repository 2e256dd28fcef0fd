// Holds subsystems a.2, a.3, a.4, a.14; choice 7.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readAtOnce } from '../../../src/kernel/work.js'
import type { WorkflowDefinition } from '../../../src/protocol/workflow/workflow.js'
import { patchDefinition, validateDefinition } from '../../../src/plugins/workflows/files/definition.js'
import { parseWorkflowFile, serialiseWorkflow } from '../../../src/plugins/workflows/files/file.js'
import { compilePermissions } from '../../../src/plugins/workflows/files/permission-fields.js'
import { inZone } from '../../../src/plugins/workflows/files/schedule-fields.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const file = (frontmatter: string, body = 'Do it.') => `---\n${frontmatter}\n---\n${body}\n`
const HEAD = 'id: report\nname: Report'
const scheduled = (schedule: string) => file(`${HEAD}\nschedule: ${schedule}`)
const fielded = (fields: string) => file(`${HEAD}\nschedule: {frequency: daily}\n${fields}`)

function parsed(text: string): WorkflowDefinition {
  const result = readAtOnce(parseWorkflowFile(text))
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result.definition
}

function mistakes(text: string): string[] {
  const result = readAtOnce(parseWorkflowFile(text))
  return result.ok ? [] : result.diagnostics.map(({ line, message }) => (line === undefined ? message : `${line}: ${message}`))
}

const DEFINITION: WorkflowDefinition = {
  id: 'report',
  name: 'Report',
  active: false,
  schedule: { frequency: 'daily', interval: 1, timezone: 'UTC', time: '00:00' },
  prompt: 'Do it.',
}

describe('a workflow file', () => {
  test('with every field is read in its normal form', () => {
    const text = file(
      `id: weekly.report-1
name: "  Weekly report "
active: true
schedule:
  frequency: weekly
  interval: 2
  weekdays: [Monday, THU, sun]
  time: 9:30 pm
  timezone: europe/berlin
directory: ~/work
agent: no
model: { providerId: svc, modelId: offline, variant: high }
skill: review
permissions:
  bash: deny
  edit: { default: deny, allow: ["docs/**", "*.md"], deny: ["docs/secret/**"] }
retry: { maxAttempts: 3, backoff: exponential, initialDelayMs: 1000, maxDelayMs: 60000, retryableErrors: [overloaded] }
concurrency: { mode: allow, maxRunning: 2 }`,
      '\nFirst line.\n\n---\n\nLast line.\n\n',
    ).replaceAll('\n', '\r\n')
    expect(parsed(`\uFEFF${text}`)).toEqual({
      id: 'weekly.report-1',
      name: 'Weekly report',
      active: true,
      schedule: { frequency: 'weekly', interval: 2, timezone: 'Europe/Berlin', weekdays: ['mon', 'thu', 'sun'], time: '21:30' },
      directory: '~/work',
      agent: 'no',
      model: { providerId: 'svc', id: 'offline', variant: 'high' },
      skill: 'review',
      permissions: { bash: 'deny', edit: { default: 'deny', allow: ['docs/**', '*.md'], deny: ['docs/secret/**'] } },
      retry: { maxAttempts: 3, backoff: 'exponential', initialDelayMs: 1000, maxDelayMs: 60_000, retryableErrors: ['overloaded'] },
      concurrency: { mode: 'allow', maxRunning: 2 },
      prompt: 'First line.\n\n---\n\nLast line.',
    })
  })

  test('says no more than it must', () => {
    expect(parsed(fielded(''))).toEqual(DEFINITION)
  })

  test.each<[string, Partial<WorkflowDefinition['schedule']>]>([
    ['{at: 2026-05-04T09:00:00+02:00}', { frequency: 'once', at: '2026-05-04T09:00:00+02:00' }],
    ['{at: 2026-05-04T09:00:00Z, timezone: utc}', { frequency: 'once', at: '2026-05-04T09:00:00Z' }],
    ['{date: 2026-05-04}', { frequency: 'once', date: '2026-05-04', time: '00:00' }],
    ['{date: 2026-05-04, frequency: once, time: 09:00}', { frequency: 'once', date: '2026-05-04', time: '09:00' }],
    ['{frequency: hourly}', { frequency: 'hourly', minute: 0 }],
    ['{frequency: hourly, interval: 6, minute: 59}', { frequency: 'hourly', interval: 6, minute: 59 }],
    ['{frequency: daily, time: 23:59:59}', { frequency: 'daily', time: '23:59:59' }],
    ['{frequency: daily, time: 12:00 AM}', { frequency: 'daily', time: '00:00' }],
    ['{frequency: daily, time: 12:05:07 pm}', { frequency: 'daily', time: '12:05:07' }],
    ['{frequency: weekly, weekdays: [sat]}', { frequency: 'weekly', weekdays: ['sat'], time: '00:00' }],
    ['{frequency: monthly, timezone: LOCAL}', { frequency: 'monthly', monthDay: 1, time: '00:00', timezone: 'local' }],
    ['{frequency: monthly, monthDay: 31}', { frequency: 'monthly', monthDay: 31, time: '00:00' }],
  ])('may be scheduled by %s', (schedule, expected) => {
    expect(parsed(scheduled(schedule)).schedule).toEqual({ interval: 1, timezone: 'UTC', ...expected })
  })

  test('runs in the zone of the machine when it says local', () => {
    const { schedule } = parsed(scheduled('{frequency: daily, timezone: local}'))
    expect(inZone(schedule, 'Asia/Tokyo').timezone).toBe('Asia/Tokyo')
    expect(inZone({ ...schedule, timezone: 'UTC' }, 'Asia/Tokyo').timezone).toBe('UTC')
  })
})

describe('a mistake is told with its line and what was expected', () => {
  test.each([
    ['{}', '4: schedule needs "at", "date", or a frequency: hourly, daily, weekly or monthly'],
    ['daily', '4: schedule must be a mapping of fields, not "daily"'],
    ['{frequency: once}', '4: schedule runs once and needs "date" or "at"'],
    ['{frequency: yearly}', '4: schedule.frequency must be once, hourly, daily, weekly or monthly, not "yearly"'],
    ['{at: 2026-05-04T09:00:00Z, time: 09:00}', '4: schedule.time cannot be part of a schedule with "at", which takes at, timezone'],
    [
      '{at: 2026-05-04T09:00:00Z, frequency: once}',
      '4: schedule.frequency cannot be part of a schedule with "at", which takes at, timezone',
    ],
    [
      '{at: 2026-05-04T09:00:00Z, timezone: Europe/Berlin}',
      '4: schedule.timezone cannot be "Europe/Berlin" together with "at", which has its own offset',
    ],
    [
      '{at: 2026-05-04T09:00:00}',
      '4: schedule.at must be a timestamp with its offset, such as 2026-05-04T09:00:00+02:00, not "2026-05-04T09:00:00"',
    ],
    ['{at: 2026-W05}', '4: schedule.at must be a timestamp with its offset, such as 2026-05-04T09:00:00+02:00, not "2026-W05"'],
    ['{at: tomorrow}', '4: schedule.at must be a timestamp with its offset, such as 2026-05-04T09:00:00+02:00, not "tomorrow"'],
    ['{date: 2026-02-29}', '4: schedule.date must be a day that exists, as YYYY-MM-DD, not "2026-02-29"'],
    ['{date: 5/4/2026}', '4: schedule.date must be a day that exists, as YYYY-MM-DD, not "5/4/2026"'],
    ['{date: 2026-1-5}', '4: schedule.date must be a day that exists, as YYYY-MM-DD, not "2026-1-5"'],
    ['{date: 2026-05-04, frequency: daily}', '4: schedule.frequency cannot be "daily" in a schedule with "date", which runs once'],
    [
      '{date: 2026-05-04, interval: 1}',
      '4: schedule.interval cannot be part of a schedule with "date", which takes date, time, timezone, frequency',
    ],
    [
      '{frequency: hourly, time: 09:00}',
      '4: schedule.time cannot be part of an hourly schedule, which takes frequency, interval, minute, timezone',
    ],
    [
      '{frequency: daily, weekdays: [mon]}',
      '4: schedule.weekdays cannot be part of a daily schedule, which takes frequency, interval, time, timezone',
    ],
    ['{frequency: daily, interval: 0}', '4: schedule.interval must be a whole number of at least 1, not 0'],
    ['{frequency: daily, interval: 1.5}', '4: schedule.interval must be a whole number of at least 1, not 1.5'],
    ['{frequency: daily, time: 24:00}', '4: schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not "24:00"'],
    ['{frequency: daily, time: 9:00}', '4: schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not "9:00"'],
    ['{frequency: daily, time: 0:30 am}', '4: schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not "0:30 am"'],
    ['{frequency: daily, time: 13:00 pm}', '4: schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not "13:00 pm"'],
    ['{frequency: daily, time: 540}', '4: schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not 540'],
    [
      '{frequency: daily, timezone: Mars/Base}',
      '4: schedule.timezone must be the IANA name of a zone, such as Europe/Berlin, or local, not "Mars/Base"',
    ],
    [
      '{frequency: daily, timezone: UTC+3}',
      '4: schedule.timezone must be the IANA name of a zone, such as Europe/Berlin, or local, not "UTC+3"',
    ],
    [
      '{frequency: daily, timezone: "+03:00"}',
      '4: schedule.timezone must be the IANA name of a zone, such as Europe/Berlin, or local, not "+03:00"',
    ],
    ['{frequency: hourly, minute: 60}', '4: schedule.minute must be a whole number from 0 to 59, not 60'],
    ['{frequency: weekly}', '4: schedule.weekdays must be a list of at least one day, such as [mon, thu], not nothing'],
    ['{frequency: weekly, weekdays: []}', '4: schedule.weekdays must be a list of at least one day, such as [mon, thu], not an empty list'],
    ['{frequency: weekly, weekdays: [mon, Monday]}', '4: schedule.weekdays[2] names monday a second time'],
    ['{frequency: weekly, weekdays: [tues]}', '4: schedule.weekdays[1] must be a weekday, such as monday or mon, not "tues"'],
    ['{frequency: monthly, monthDay: 32}', '4: schedule.monthDay must be a whole number from 1 to 31, not 32'],
    [
      '{frequency: daily, hour: 9}',
      '4: schedule.hour is no field of schedule; the fields are at, date, time, frequency, interval, minute, weekdays, monthDay, timezone',
    ],
  ])('in the schedule %s', (schedule, expected) => {
    expect(mistakes(scheduled(schedule))).toEqual([expected])
  })

  test.each([
    ['active: yes', '5: active must be true or false, not "yes"'],
    ['directory: ../other', '5: directory cannot leave its default directory by "..": "../other"'],
    ['directory: ""', '5: directory must be text, not ""'],
    ['agent:', '5: agent must be text, not nothing'],
    ['skill: 7', '5: skill must be text, not 7; put it in quotes'],
    ['model: svc/offline', '5: model must be a mapping of fields, not "svc/offline"'],
    ['model: {providerId: svc}', '5: model.modelId must be text, not nothing'],
    ['model: {providerId: svc, id: a, modelId: b}', '5: model has both "modelId" and "id", which are the same field'],
    [
      'model: {providerId: svc, modelId: a, temperature: 1}',
      '5: model.temperature is no field of model; the fields are providerId, modelId, id, variant, connectionId',
    ],
    ['permissions: {bash: ask}', '5: permissions.bash cannot be "ask", because nobody may be there to answer; use allow or deny'],
    [
      'permissions: {bash: {default: ask}}',
      '5: permissions.bash.default cannot be "ask", because nobody may be there to answer; use allow or deny',
    ],
    [
      'permissions: {bash: {ask: ["*"]}}',
      '5: permissions.bash.ask cannot be "ask", because nobody may be there to answer; use allow or deny',
    ],
    ['permissions: {bash: {}}', '5: permissions.bash must have one of default, allow, deny'],
    [
      'permissions: {bash: {alow: ["*"]}}',
      '5: permissions.bash.alow is no field of permissions.bash; the fields are default, allow, deny|5: permissions.bash must have one of default, allow, deny',
    ],
    ['permissions: {bash: {allow: ["git *", ""]}}', '5: permissions.bash.allow[2] must be text, not ""'],
    ['permissions: {bash: maybe}', '5: permissions.bash must be allow or deny, not "maybe"'],
    ['retry: {maxAttempts: 0}', '5: retry.maxAttempts must be a whole number of at least 1, not 0'],
    ['retry: {backoff: linear}', '5: retry.backoff must be fixed or exponential, not "linear"'],
    ['retry: {initialDelayMs: 100, maxDelayMs: 50}', '5: retry.maxDelayMs must be 0 or at least initialDelayMs (100), not 50'],
    ['concurrency: {maxRunning: 2}', '5: concurrency.maxRunning must be 1 unless mode is allow, not 2'],
    ['prompt: hello', '5: prompt is no field of a file: the prompt is the text after the frontmatter'],
    [
      'shcedule: {}',
      '5: shcedule is no field of a workflow; the fields are id, name, active, schedule, directory, agent, model, skill, permissions, retry, concurrency, prompt',
    ],
    ['id: again', '5: "id" is there a second time'],
    ['agent: !!js/function x', '5: is not valid YAML: Unresolved tag: tag:yaml.org,2002:js/function'],
  ])('in %s', (fields, expected) => {
    expect(mistakes(fielded(fields))).toEqual(expected.split('|'))
  })

  test.each([
    ['id: Report', 'id must be lower-case letters, digits, ".", "_" or "-", beginning with a letter or digit, not "Report"'],
    ['id: .hidden', 'id must be lower-case letters, digits, ".", "_" or "-", beginning with a letter or digit, not ".hidden"'],
    ['id: 12', 'id must be text, not 12; put it in quotes'],
  ])('in the id: %s', (id, message) => {
    expect(mistakes(file(`${id}\nname: N\nschedule: {frequency: daily}`))).toEqual([`2: ${message}`])
  })

  test('every mistake, each at its own line', () => {
    const text = file(`name: "  "
schedule:
  frequency: weekly
  weekdays:
    - mon
    - someday
  time: noon
permissions:
  edit:
    deny: docs
color: red`)
    expect(mistakes(text)).toEqual([
      '2: needs the field "id"',
      '2: name must be text, not "  "',
      '7: schedule.weekdays[2] must be a weekday, such as monday or mon, not "someday"',
      '8: schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not "noon"',
      '11: permissions.edit.deny must be a list of texts, not "docs"',
      '12: color is no field of a workflow; the fields are id, name, active, schedule, directory, agent, model, skill, permissions, retry, concurrency, prompt',
    ])
  })

  test.each([
    ['', ['1: the file must begin with a line "---", and the fields of the workflow after it']],
    ['# Report', ['1: the file must begin with a line "---", and the fields of the workflow after it']],
    ['---\nid: a\n', ['1: the fields of the workflow must end with a line that is exactly "---"; there is none']],
    ['---\n---\n', ['1: the fields of the workflow must be "name: value" lines']],
    ['---\n- a\n---\nx', ['2: the fields of the workflow must be "name: value" lines']],
    [file(`${HEAD}\nschedule: {frequency: daily}`, '  \n'), ['2: needs a prompt: the text after the frontmatter']],
  ])('in the text %j', (text, expected) => {
    expect(mistakes(text)).toEqual(expected)
  })

  test('where YAML itself is broken', () => {
    expect(mistakes(file(`${HEAD}\nschedule: {frequency: daily`))[0]).toMatch(/^\d: is not valid YAML: /)
  })
})

describe('a hostile file', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

  test.each([
    ['is far too large', `---\n${'x'.repeat(600_000)}`],
    ['has far too many fields', file(`a: ${'x'.repeat(70_000)}`)],
    ['has brackets without end', file(`${HEAD}\nschedule: ${'['.repeat(12_000)}`)],
    ['is nested in one line', file('- '.repeat(8000))],
    ['is nested without end', file(`${HEAD}\nschedule: ${nested(999)}`)],
    [
      'multiplies itself by aliases',
      file(
        `a: &a [${'x,'.repeat(9)}x]\n${'bcdefghij'
          .split('')
          .map((n, i) => `${n}: &${n} [${`*${'abcdefghi'[i]},`.repeat(9)}x]`)
          .join('\n')}`,
      ),
    ],
    [
      'has thousands of mistakes',
      file(`${HEAD}\nschedule: {frequency: daily}\n${Array.from({ length: 1600 }, (_, n) => `f${n}: 1`).join('\n')}`),
    ],
  ])('that %s is refused at once, with few words', (_what, text) => {
    const told = mistakes(text)
    const paid = [...parseWorkflowFile(text)].reduce((sum, bytes) => sum + bytes, 0)

    expect(paid).toBeLessThan(256 * LIMITS.workflows.frontmatterBytes)
    expect(told.length).toBeGreaterThan(0)
    expect(told.length).toBeLessThanOrEqual(32)
    expect(told.join('').length).toBeLessThan(20_000)
  })
})

describe('writing a definition', () => {
  const WHOLE: WorkflowDefinition = {
    ...DEFINITION,
    name: 'yes: #1 "quoted" 09:00',
    active: true,
    schedule: { frequency: 'weekly', interval: 2, timezone: 'local', weekdays: ['mon', 'sun'], time: '21:30:05' },
    directory: '~/x y',
    agent: 'null',
    model: { providerId: 'svc', id: '1.0', variant: 'high', connectionId: 'c' },
    skill: '- review',
    permissions: { bash: 'deny', '*': { allow: ['*.md', '# x'], deny: ['a: b'] } },
    retry: { maxAttempts: 2, backoff: 'fixed', initialDelayMs: 5, maxDelayMs: 0, retryableErrors: ['busy'] },
    concurrency: { mode: 'allow', maxRunning: 3 },
    prompt: '---\n\nOne.\n---\nTwo',
  }

  test('in a fixed order without defaults', () => {
    const definition = parsed(fielded('retry: {}\nconcurrency: {}'))
    expect(serialiseWorkflow({ ...definition, skill: 'review' })).toBe(`---
id: report
name: Report
active: false
schedule:
  frequency: daily
skill: review
retry: {}
concurrency: {}
---

Do it.
`)
  })

  test.each<[string, WorkflowDefinition]>([
    ['with every field', WHOLE],
    ['with few', DEFINITION],
    ['at a moment', { ...DEFINITION, schedule: { frequency: 'once', interval: 1, timezone: 'UTC', at: '2026-05-04T09:00:00Z' } }],
    [
      'on a day',
      { ...DEFINITION, schedule: { frequency: 'once', interval: 1, timezone: 'Asia/Tokyo', date: '2026-05-04', time: '00:00' } },
    ],
    ['by the hour', { ...DEFINITION, schedule: { frequency: 'hourly', interval: 3, timezone: 'UTC', minute: 0 } }],
    ['by the month', { ...DEFINITION, schedule: { frequency: 'monthly', interval: 1, timezone: 'UTC', monthDay: 31, time: '00:00' } }],
  ])('%s and reading it again changes nothing', (_what, definition) => {
    const text = serialiseWorkflow(definition)
    expect(parsed(text)).toEqual(definition)
    expect(serialiseWorkflow(parsed(text))).toBe(text)
  })
})

describe('a definition over HTTP', () => {
  test('in its normal form is taken as it is', () => {
    const once = { frequency: 'once', interval: 1, timezone: 'UTC' } as const
    for (const schedule of [{ ...once, at: '2026-05-04T09:00:00Z' }, { ...once, date: '2026-05-04', time: '09:00' }, DEFINITION.schedule]) {
      expect(validateDefinition({ ...DEFINITION, schedule }, { isNew: true })).toEqual({ ...DEFINITION, schedule })
    }
  })

  test('is refused with every mistake', () => {
    const schedule = { ...DEFINITION.schedule, time: 'noon' }
    expect(() => validateDefinition({ ...DEFINITION, id: '1st', schedule, prompt: ' ' }, { isNew: true })).toThrow(
      expect.objectContaining({
        code: 'management.invalid_request',
        message: 'schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not "noon"',
        details: {
          issues: [
            { path: 'body.schedule.time', message: 'schedule.time must be HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM, not "noon"' },
            { path: 'body', message: 'needs a prompt: the text after the frontmatter' },
            { path: 'body.id', message: 'id must be 1 to 80 lower-case letters, digits, ".", "_" or "-", beginning with a letter' },
          ],
        },
      }),
    )
  })

  test('is patched field by field, and null removes', () => {
    const before: WorkflowDefinition = { ...DEFINITION, agent: 'build', skill: 'review' }
    const after = patchDefinition(before, { name: 'New', agent: null, schedule: { frequency: 'hourly', interval: 1, timezone: 'UTC' } })
    expect(after).toEqual({
      ...DEFINITION,
      name: 'New',
      skill: 'review',
      schedule: { frequency: 'hourly', interval: 1, timezone: 'UTC', minute: 0 },
    })
    expect(() => patchDefinition(before, { id: 'other' })).toThrow('id cannot be changed: it is "report"')
    expect(() => patchDefinition(before, { prompt: '' })).toThrow('needs a prompt')
  })
})

test('permissions become rules in which deny beats allow and both beat the default', () => {
  const { permissions } = parsed(
    fielded('permissions:\n  bash: allow\n  edit: {deny: [a, b], allow: ["*.md"], default: deny}\n  read: {allow: [x]}'),
  )
  expect(compilePermissions(permissions)).toEqual([
    { permission: 'bash', pattern: '*', action: 'allow' },
    { permission: 'edit', pattern: '*', action: 'deny' },
    { permission: 'edit', pattern: '*.md', action: 'allow' },
    { permission: 'edit', pattern: 'a', action: 'deny' },
    { permission: 'edit', pattern: 'b', action: 'deny' },
    { permission: 'read', pattern: 'x', action: 'allow' },
  ])
  expect(compilePermissions(undefined)).toEqual([])
})

test('the file in the documentation is a workflow, and every schedule named there is one', () => {
  const page = readFileSync(new URL('../../../docs/workflows.md', import.meta.url), 'utf8')
  const [, example = ''] = /```markdown\n([^]*?)```/.exec(page) ?? []
  expect(parsed(example)).toMatchObject({ id: 'nightly-check', active: true, prompt: 'Run the tests and write down what fails, and why.' })
  for (const kind of ['hourly', 'daily', 'weekly', 'monthly']) expect(page).toContain(`| ${kind} | \`frequency: ${kind}\``)
})
