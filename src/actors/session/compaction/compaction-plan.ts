/** What of a conversation is summarised, and what stays (sessions-events §6.4). */
import { nextTurn } from '../../../kernel/pause.js'
import type { CompactionReason } from '../../../machines/session/compaction.machine.js'
import { tailStart } from '../../../machines/session/compaction/tail.js'
import { cutToTokens, estimateTokens } from '../../../machines/session/compaction/tokens.js'
import type { CompactionPolicy } from '../../../machines/session/compaction/window.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message, ModelRef } from '../../../protocol/message/message.js'
import { modelMessages } from '../history/request.js'
import { conversationOf, isPrompt } from '../history/conversation.js'
import type { Sizes } from '../state/sizes.js'
import { toText } from './summary-text.js'

/** Part of the trigger that an automatic compaction must be able to save. */
const WORTH = 1 / 8
/** Part of the usable window that what is summarised may fill. */
const FILL = 0.75
/** Part of the trigger that a summary may have, and characters of one of its tokens. */
const SUMMARY = { share: 1 / 4, characters: 3 }

interface PlanRequest {
  readonly transcript: readonly Message[]
  readonly reason: CompactionReason
  /** Of the conversation. */
  readonly policy: CompactionPolicy
  readonly ref: ModelRef
  /** Tokens of the request that was too large, if one was. */
  readonly refused: number | undefined
}

export interface CompactionPlan {
  /** Oldest first; never empty. */
  readonly summarised: readonly Message[]
  /** The first message that stays; undefined = none does. */
  readonly tailStart: string | undefined
  /** The summary so far. */
  readonly previous: string | undefined
  /** Tokens of what is summarised. */
  readonly gain: number
  /** Characters the new summary may have. */
  readonly longest: number
}

/** Undefined when there is nothing to summarise, or, automatically, too little to gain. */
export function planCompaction(sizes: Sizes, { transcript, reason, policy, ref, refused }: PlanRequest): CompactionPlan | undefined {
  const { summary, messages } = conversationOf(transcript)
  const sized = messages.map((message) => ({
    tokens: sizes.of(ref, { messages: modelMessages([message], ref) }),
    beginsTurn: isPrompt(message),
  }))
  const window = Math.min(policy.trigger, refused ?? Number.POSITIVE_INFINITY)
  const start = tailStart(sized, refused === undefined ? policy.keep : Math.min(policy.keep, Math.floor(refused / 4)))
  const end = start === 0 ? messages.length : start
  const gain = sized.slice(0, end).reduce((total, { tokens }) => total + tokens, 0)
  if (end === 0 || (reason === 'auto' && gain < window * WORTH)) return undefined
  return {
    summarised: messages.slice(0, end),
    tailStart: messages[end]?.info.id,
    previous: summary?.text,
    gain,
    longest: Math.min(
      LIMITS.compaction.summary,
      Math.max(LIMITS.compaction.partial, Math.floor(window * SUMMARY.share * SUMMARY.characters)),
    ),
  }
}

/** Characters that are measured before others have their turn. */
const IN_A_TURN = 512 * 1024
/** A message is cut to this at the least before the oldest are left out altogether. */
const LEAST = 256

/**
 * What is summarised as one text that fits. Where all of it does not, the longest messages are cut in their middle, so that every one
 * still says something; then the oldest give way.
 */
export async function summarisedText({ summarised, previous }: CompactionPlan, usable: number): Promise<string> {
  const room = Math.max(0, Math.floor(usable * FILL) - estimateTokens(previous ?? ''))
  const texts: { readonly text: string; readonly size: number }[] = []
  let measured = 0
  for (const message of summarised) {
    const text = toText(message)
    if (text !== '') texts.push({ text, size: estimateTokens(text) })
    measured += text.length
    if (measured < IN_A_TURN) continue
    measured = 0
    await nextTurn()
  }
  const fits = (cap: number) => texts.reduce((total, { size }) => total + Math.min(size, cap), 0) <= room
  let cap = Math.max(room, LEAST)
  while (cap > LEAST && !fits(cap)) cap = Math.max(LEAST, Math.floor(cap / 2))
  const kept: string[] = []
  let left = room
  for (const { text, size } of texts.toReversed()) {
    const most = kept.length === 0 ? Math.min(cap, room) : cap
    const cut = size <= most ? text : cutToTokens(text, most)
    left -= size <= most ? size : estimateTokens(cut)
    if (left < 0 && kept.length > 0) break
    kept.push(cut)
  }
  return kept.toReversed().join('\n\n')
}
