/** Judges generated lines, runs those that need no answer, and finds the ones that should have needed one. */
import { runLines } from './bash-runs.js'
import { generate } from './generate.js'
import { GRAMMAR } from './grammar.js'
import { createJudge, type Reading } from './judge.js'
import { makePlace, type Place } from './place.js'

interface Campaign {
  readonly seed: number
  readonly lines: number
  /** Stops at this many escapes. */
  readonly enough?: number
}

interface Escape {
  readonly index: number
  readonly line: string
  /** What is left of the line when everything is removed that does not matter. */
  readonly short: string
  readonly effects: readonly string[]
}

export interface Outcome {
  readonly generated: number
  readonly allowed: number
  readonly run: number
  /** Lines that did not end in time. */
  readonly endless: number
  readonly escapes: readonly Escape[]
}

const BATCH = 400
const LINE_MS = 10_000

export async function campaign({ seed, lines, enough = 20 }: Campaign): Promise<Outcome> {
  const place = makePlace()
  try {
    const judge = createJudge(place)
    const allows = (line: string) => judge(lineIn(place, line))
    const escapes: Escape[] = []
    let generated = 0
    let allowed = 0
    let endless = 0
    while (generated < lines && escapes.length < enough) {
      const batch: Numbered[] = []
      for (; generated < lines && batch.length < BATCH; generated += 1) {
        const line = generate(GRAMMAR, seed, generated)
        if (await allows(line)) batch.push({ index: generated, line })
      }
      const bad = await culprits(place, batch)
      allowed += batch.length
      endless += bad.endless
      for (const { index, line } of bad.lines) {
        const short = await shorten(place, line, allows)
        const effects = await effectsOf(place, short)
        escapes.push({ index, line, short, effects: effects.length > 0 ? effects : ['(not every time)'] })
      }
    }
    return { generated, allowed, run: allowed, endless, escapes }
  } finally {
    place.remove()
  }
}

/** What the first lines do that a judge allows who is told otherwise. */
export async function effectsUnder(reading: Reading, seed: number, lines: number): Promise<readonly string[]> {
  const place = makePlace()
  try {
    const judge = createJudge(place, reading)
    const allowed: string[] = []
    for (let index = 0; index < lines; index += 1) {
      const line = lineIn(place, generate(GRAMMAR, seed, index))
      if (await judge(line)) allowed.push(line)
    }
    return (await runLines(place, allowed)).escapes
  } finally {
    place.remove()
  }
}

interface Numbered {
  readonly index: number
  readonly line: string
}

const lineIn = (place: Place, line: string) => line.replaceAll('@ROOT@', place.root)

/** Halves a batch until the lines are found that did something. */
async function culprits(
  place: Place,
  batch: readonly Numbered[],
): Promise<{ readonly lines: readonly Numbered[]; readonly endless: number }> {
  if (batch.length === 0) return { lines: [], endless: 0 }
  const ran = await runLines(
    place,
    batch.map(({ line }) => lineIn(place, line)),
    batch.length === 1 ? LINE_MS : undefined,
  )
  if (ran.escapes.length > 0) place.restore()
  if (ran.escapes.length === 0 && !ran.timedOut) return { lines: [], endless: ran.endless }
  if (batch.length === 1) return ran.escapes.length > 0 ? { lines: batch, endless: 0 } : { lines: [], endless: 1 }
  const middle = batch.length >> 1
  const [left, right] = [await culprits(place, batch.slice(0, middle)), await culprits(place, batch.slice(middle))]
  return { lines: [...left.lines, ...right.lines], endless: left.endless + right.endless }
}

async function effectsOf(place: Place, line: string): Promise<readonly string[]> {
  const { escapes } = await runLines(place, [lineIn(place, line)], LINE_MS)
  if (escapes.length > 0) place.restore()
  return escapes
}

/** Takes parts away while the line is still allowed and still does something. */
async function shorten(place: Place, line: string, allows: (line: string) => Promise<boolean>): Promise<string> {
  let parts = line.split(/(?<=[;\n&|{}() ])/)
  for (let size = parts.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < parts.length; ) {
      const fewer = [...parts.slice(0, at), ...parts.slice(at + size)]
      const shorter = fewer.join('')
      if (shorter !== '' && (await allows(shorter)) && (await effectsOf(place, shorter)).length > 0) parts = fewer
      else at += size
    }
  }
  return parts.join('')
}
