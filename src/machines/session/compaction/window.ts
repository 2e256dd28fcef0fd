/** When a conversation is compacted, and how much of it stays (sessions-events §6.1, 6.2, 6.4). */

import { LIMITS } from '../../../protocol/limits.js'
import { wholeNumber, wishOf } from '../../../protocol/system/variables.js'

/** What configuration says of compaction, on any of its levels. */
export interface CompactionSettings {
  readonly auto?: boolean | undefined
  readonly 'threshold-percent'?: number | undefined
  readonly buffer?: number | undefined
  readonly keep?: { readonly tokens?: number | undefined } | undefined
  readonly prune?: boolean | undefined
}

/** What the environment of the server overrides. */
export interface CompactionOverrides {
  /** Off switches automatic compaction and recovery from overflow off, whatever the configuration says. */
  readonly auto: boolean
  /** Off refuses every compaction. */
  readonly any: boolean
  readonly trigger: number | undefined
  readonly reserved: number | undefined
  readonly maxOutput: number
  /** Ms of silence after which a model that writes a summary counts as stalled. */
  readonly stall: number
}

interface ModelLimit {
  /** 0 = unknown. */
  readonly context: number
  readonly input?: number | undefined
  /** 0 = unknown. */
  readonly output: number
}

export interface CompactionPolicy {
  readonly auto: boolean
  readonly prune: boolean
  /** Tokens of a request from which on the conversation is compacted. */
  readonly trigger: number
  /** Tokens that a request may have. */
  readonly usable: number
  /** Tokens of the latest messages that stay as they are. */
  readonly keep: number
}

const MAX_OUTPUT = 32_000
const PERCENT = 65
const UNKNOWN_CONTEXT = 120_000
const RESERVED = 20_000
const CEILING = 0.9
const KEEP = { share: 0.25, least: 2000, most: 8000 }

/** Later levels win, field by field. */
export function mergeSettings(levels: readonly (CompactionSettings | undefined)[]): CompactionSettings {
  const merged: Record<string, unknown> = {}
  for (const level of levels) {
    for (const [key, value] of Object.entries(level ?? {})) if (value !== undefined && value !== null) merged[key] = value
  }
  return merged
}

export function policyOf(limit: ModelLimit, settings: CompactionSettings, overrides: CompactionOverrides): CompactionPolicy {
  const context = limit.context === 0 ? UNKNOWN_CONTEXT : limit.context
  const usable = usableOf({ ...limit, context }, overrides.reserved ?? settings.buffer, overrides.maxOutput)
  const share = (context * (settings['threshold-percent'] ?? PERCENT)) / 100
  const trigger = overrides.trigger ?? Math.floor(Math.min(share, usable, context * CEILING))
  return {
    auto: overrides.auto && overrides.any && settings.auto !== false && trigger > 0,
    prune: settings.prune !== false,
    trigger,
    usable,
    keep: settings.keep?.tokens ?? keepOf(usable, trigger),
  }
}

/** Models that list their whole window as their output would leave no room: half of it is, unless a buffer is configured. */
function usableOf({ context, input, output }: ModelLimit, buffer: number | undefined, most: number): number {
  const maxOutput = output === 0 ? most : Math.min(output, most)
  const hasInput = input !== undefined && input > 0
  const whole = hasInput ? input : context
  if (buffer !== undefined) return Math.max(0, whole - buffer)
  return Math.max(whole - (hasInput ? Math.min(RESERVED, maxOutput) : maxOutput), Math.floor(whole / 2))
}

function keepOf(usable: number, trigger: number): number {
  const share = Math.min(Math.max(usable * KEEP.share, KEEP.least), KEEP.most)
  return Math.floor(Math.min(share, trigger / 2))
}

const LONGEST_STALL = 3_600_000

/** Values that cannot be read are told at start. */
export function compactionOverrides(env: Readonly<Record<string, string | undefined>>): CompactionOverrides {
  const isOn = (name: string) => wishOf(env, name) !== false
  const tokens = (name: string) => wholeNumber(env, name)
  return {
    auto: isOn('SVC_AGENT_AUTO_COMPACT'),
    any: isOn('SVC_AGENT_MODEL_COMPACTION'),
    trigger: tokens('SVC_AGENT_AUTO_COMPACT_TOKENS'),
    reserved: tokens('SVC_AGENT_COMPACTION_RESERVED_TOKENS'),
    maxOutput: tokens('SVC_AGENT_OUTPUT_TOKEN_MAX') ?? MAX_OUTPUT,
    stall: Math.min((tokens('SVC_AGENT_MODEL_COMPACTION_TIMEOUT_SECS') ?? LIMITS.compaction.stall / 1000) * 1000, LONGEST_STALL),
  }
}
