import { IANAZone } from 'luxon'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { latestOccurrence, nextOccurrence, upcoming } from '../../../src/machines/workflows/schedule/occurrence.js'
import type { WorkflowSchedule } from '../../../src/protocol/workflow/workflow.js'

const schedule = (given: Partial<WorkflowSchedule>): WorkflowSchedule => ({ frequency: 'once', interval: 1, timezone: 'UTC', ...given })
const at = (text: string) => Date.parse(text)

function after(given: Partial<WorkflowSchedule>, from: string, count: number): string[] {
  return upcoming(schedule(given), at(from), count).map(({ scheduledAt }) => new Date(scheduledAt).toISOString().replace(':00.000Z', 'Z'))
}

describe('the next occurrences', () => {
  test.each<[string, Partial<WorkflowSchedule>, string, string[]]>([
    [
      'hourly every 6 hours',
      { frequency: 'hourly', interval: 6, minute: 15 },
      '2026-01-01T00:00Z',
      ['2026-01-01T00:15Z', '2026-01-01T06:15Z', '2026-01-01T12:15Z', '2026-01-01T18:15Z'],
    ],
    [
      'hourly every 5 hours, counted on the calendar',
      { frequency: 'hourly', interval: 5, minute: 15 },
      '2026-01-01T00:00Z',
      ['2026-01-01T02:15Z', '2026-01-01T07:15Z', '2026-01-01T12:15Z', '2026-01-01T17:15Z', '2026-01-01T22:15Z', '2026-01-02T03:15Z'],
    ],
    [
      'every second day',
      { frequency: 'daily', interval: 2, time: '09:00' },
      '2026-01-01T00:00Z',
      ['2026-01-02T09:00Z', '2026-01-04T09:00Z', '2026-01-06T09:00Z', '2026-01-08T09:00Z'],
    ],
    [
      'every third day in Berlin',
      { frequency: 'daily', interval: 3, time: '09:00', timezone: 'Europe/Berlin' },
      '2026-01-01T00:00Z',
      ['2026-01-01T08:00Z', '2026-01-04T08:00Z', '2026-01-07T08:00Z', '2026-01-10T08:00Z'],
    ],
    [
      'Sundays and Mondays of every second week',
      { frequency: 'weekly', interval: 2, weekdays: ['sun', 'mon'], time: '08:30' },
      '2026-01-01T00:00Z',
      ['2026-01-04T08:30Z', '2026-01-05T08:30Z', '2026-01-18T08:30Z', '2026-01-19T08:30Z'],
    ],
    [
      'the last day of shorter months',
      { frequency: 'monthly', monthDay: 31, time: '12:00' },
      '2026-01-01T00:00Z',
      ['2026-01-31T12:00Z', '2026-02-28T12:00Z', '2026-03-31T12:00Z', '2026-04-30T12:00Z', '2026-05-31T12:00Z'],
    ],
    ['February of a leap year', { frequency: 'monthly', monthDay: 30 }, '2028-01-31T00:00Z', ['2028-02-29T00:00Z', '2028-03-30T00:00Z']],
    [
      'every third month',
      { frequency: 'monthly', interval: 3, monthDay: 1 },
      '2026-01-01T00:00Z',
      ['2026-04-01T00:00Z', '2026-07-01T00:00Z', '2026-10-01T00:00Z', '2027-01-01T00:00Z'],
    ],
    [
      'a time that does not exist: the first valid minute',
      { frequency: 'daily', time: '02:30', timezone: 'America/New_York' },
      '2026-03-07T12:00Z',
      ['2026-03-08T07:00Z', '2026-03-09T06:30Z', '2026-03-10T06:30Z'],
    ],
    [
      'a time that exists twice: once, the first',
      { frequency: 'daily', time: '01:30', timezone: 'America/New_York' },
      '2026-10-31T12:00Z',
      ['2026-11-01T05:30Z', '2026-11-02T06:30Z'],
    ],
    [
      'hourly through a gap',
      { frequency: 'hourly', minute: 15, timezone: 'America/New_York' },
      '2026-03-08T06:00Z',
      ['2026-03-08T06:15Z', '2026-03-08T07:00Z', '2026-03-08T07:15Z', '2026-03-08T08:15Z'],
    ],
    [
      'hourly through an overlap',
      { frequency: 'hourly', minute: 15, timezone: 'America/New_York' },
      '2026-11-01T04:00Z',
      ['2026-11-01T04:15Z', '2026-11-01T05:15Z', '2026-11-01T07:15Z', '2026-11-01T08:15Z'],
    ],
    [
      'a gap of half an hour',
      { frequency: 'daily', time: '02:15', timezone: 'Australia/Lord_Howe' },
      '2026-10-03T00:00Z',
      ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
    ],
    [
      'a day that does not exist',
      { frequency: 'daily', time: '09:00', timezone: 'Pacific/Apia' },
      '2011-12-29T18:59Z',
      ['2011-12-29T19:00Z', '2011-12-30T10:00Z', '2011-12-30T19:00Z'],
    ],
    ['a date', { date: '2026-05-04', time: '10:00', timezone: 'Europe/Berlin' }, '2026-01-01T00:00Z', ['2026-05-04T08:00Z']],
    ['a date that is over', { date: '2026-05-04' }, '2026-05-04T00:00Z', []],
    ['a timestamp', { at: '2026-05-04T10:00:00+02:00' }, '2026-01-01T00:00Z', ['2026-05-04T08:00Z']],
    ['a timestamp that is over', { at: '2026-05-04T10:00:00+02:00' }, '2026-05-04T08:00Z', []],
    ['an interval that never comes', { frequency: 'monthly', interval: 1_000_000 }, '2026-01-01T00:00Z', []],
  ])('of %s', (_what, given, from, expected) => {
    expect(after(given, from, Math.max(expected.length, 1))).toEqual(expected)
  })

  test('collapse when several local times are moved to one instant', () => {
    expect(after({ frequency: 'hourly', minute: 0, timezone: 'America/New_York' }, '2026-03-08T05:30Z', 3)).toEqual([
      '2026-03-08T06:00Z',
      '2026-03-08T07:00Z',
      '2026-03-08T08:00Z',
    ])
  })

  test('keep their seconds when they are moved', () => {
    expect(upcoming(schedule({ frequency: 'daily', time: '02:30:15', timezone: 'America/New_York' }), at('2026-03-08T00:00Z'), 1)).toEqual([
      { scheduledAt: at('2026-03-08T07:00:15Z'), utc: '2026-03-08T07:00:15Z', local: '2026-03-08T03:00:15-04:00', shift: 'gap' },
    ])
  })

  test('are neither lost nor early in the seconds before one that was moved', () => {
    const moved = schedule({ frequency: 'daily', time: '02:30:15', timezone: 'America/New_York' })
    const due = at('2026-03-08T07:00:15Z')
    expect([nextOccurrence(moved, due - 1), nextOccurrence(moved, due)]).toEqual([due, at('2026-03-09T06:30:15Z')])
    expect([latestOccurrence(moved, 0, due - 1), latestOccurrence(moved, 0, due)]).toEqual([at('2026-03-07T07:30:15Z'), due])
  })

  test('are shown in the zone of the schedule, and marked where the clock was changed', () => {
    const shown = (given: Partial<WorkflowSchedule>, from: string) =>
      upcoming(schedule({ timezone: 'America/New_York', ...given }), at(from), 2).map(({ local, shift }) => [local, shift])
    expect(shown({ frequency: 'daily', time: '02:30' }, '2026-03-07T12:00Z')).toEqual([
      ['2026-03-08T03:00:00-04:00', 'gap'],
      ['2026-03-09T02:30:00-04:00', undefined],
    ])
    expect(shown({ frequency: 'daily', time: '01:30' }, '2026-10-31T12:00Z')).toEqual([
      ['2026-11-01T01:30:00-04:00', 'fold'],
      ['2026-11-02T01:30:00-05:00', undefined],
    ])
    expect(shown({ frequency: 'hourly', minute: 0 }, '2026-03-08T06:00Z')).toEqual([
      ['2026-03-08T03:00:00-04:00', undefined],
      ['2026-03-08T04:00:00-04:00', undefined],
    ])
  })
})

describe('the latest occurrence', () => {
  const hourly = schedule({ frequency: 'hourly', minute: 15, timezone: 'America/New_York' })
  const latest = (from: string, to: string) => latestOccurrence(hourly, at(from), at(to))

  test('includes both ends', () => {
    expect(latest('2026-01-01T00:15Z', '2026-01-01T00:15Z')).toBe(at('2026-01-01T00:15Z'))
    expect(latest('2026-01-01T00:15:00.001Z', '2026-01-01T01:14:59.999Z')).toBeUndefined()
  })

  test('in the second half of an overlap is the last of the first half', () => {
    expect(latest('2026-10-31T00:00Z', '2026-11-01T06:10Z')).toBe(at('2026-11-01T05:15Z'))
    expect(latest('2026-10-31T00:00Z', '2026-11-01T06:59Z')).toBe(at('2026-11-01T05:15Z'))
    expect(latest('2026-10-31T00:00Z', '2026-11-01T07:15Z')).toBe(at('2026-11-01T07:15Z'))
  })

  test('of a one-time schedule is its instant', () => {
    const once = schedule({ at: '2026-05-04T08:00:00Z' })
    expect(latestOccurrence(once, at('2026-01-01T00:00Z'), at('2026-12-01T00:00Z'))).toBe(at('2026-05-04T08:00Z'))
    expect(latestOccurrence(once, at('2026-05-05T00:00Z'), at('2026-12-01T00:00Z'))).toBeUndefined()
    expect(latestOccurrence(once, at('2026-01-01T00:00Z'), at('2026-05-04T07:59Z'))).toBeUndefined()
  })

  test('is what walking forward ends with, around every change of the clock', () => {
    const zones = ['America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Chatham']
    for (const timezone of zones) {
      for (const given of [
        { frequency: 'hourly', minute: 20 },
        { frequency: 'daily', time: '02:20' },
      ] as const) {
        const each = schedule({ ...given, timezone })
        const forward = upcoming(each, at('2026-02-20T00:00Z'), 800).map(({ scheduledAt }) => scheduledAt)
        expect(forward.map((due) => latestOccurrence(each, 0, due))).toEqual(forward)
        expect(forward.slice(1).map((due) => latestOccurrence(each, 0, due - 1))).toEqual(forward.slice(0, -1))
      }
    }
  })

  test('costs the same after a day and after a thousand years', () => {
    const asked = vi.spyOn(IANAZone.prototype, 'offset')
    onTestFinished(() => asked.mockRestore())
    const offsetsOf = (years: number) => {
      const from = at('2026-01-01T00:00Z')
      asked.mockClear()
      for (let n = 0; n < 2000; n++) latestOccurrence(hourly, from, from + years * 31_557_600_000 + n * 1_234_567)
      return asked.mock.calls.length
    }
    expect(offsetsOf(0.003)).toBeLessThan(2000)
    expect(offsetsOf(1000)).toBeLessThan(2000)
  })
})

test('is asked for in any order and by any clock', () => {
  const each = schedule({ frequency: 'monthly', interval: 5, monthDay: 31, time: '2:30 am', timezone: 'Europe/Berlin' })
  const forward = upcoming(each, at('2020-01-01T00:00Z'), 30).map(({ scheduledAt }) => scheduledAt)
  expect(forward.map((due) => nextOccurrence(each, due - 1))).toEqual(forward)
})
