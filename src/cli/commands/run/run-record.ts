/**
 * What `svc run --output json` and `--output events` print, one record a line: the events of the run as the server tells them, then the
 * result; `--output json` prints the result alone. docs/scripts.md is checked against it.
 */
import * as z from 'zod'
import { EventEnvelope } from '../../../protocol/event/event.js'
import { Refusal } from '../../../protocol/interaction/refusal.js'
import { RECORDS } from './records-version.js'

const version = z.literal(RECORDS).describe('of these records; another one where a field goes or means something else')
const tokens = z.number().int().nonnegative()

export const RunResult = z.strictObject({
  type: z.literal('result'),
  version,
  status: z
    .enum(['done', 'failed', 'refused', 'interrupted'])
    .describe('the third went on to its end without something that nobody was there to allow'),
  exitCode: z.number().int().describe('what the program ends with: 0, 1, 3, 130'),
  answer: z.string().describe('text of the last message'),
  structured: z.unknown().optional().describe('the answer as a value, with `--output-schema`'),
  sessionId: z.string().optional().describe('the conversation; there is none where it failed before'),
  messageId: z.string().optional().describe('id of the prompt'),
  model: z.string().optional().describe('`provider/model` that answered'),
  agent: z.string().optional().describe('agent that answered'),
  usage: z
    .strictObject({ input: tokens, output: tokens, reasoning: tokens, cacheRead: tokens, cacheWrite: tokens })
    .describe('tokens of every step of the run: `input`, `output`, `reasoning`, `cacheRead`, `cacheWrite`'),
  cost: z.number().nonnegative().describe('in the currency of the prices of the model; 0 where they are unknown'),
  durationMs: z.number().int().nonnegative().describe('from the start of the command to its end'),
  refused: z.array(Refusal).describe('what was not allowed: `permission`, `title`, `patterns`'),
  error: z.strictObject({ message: z.string(), code: z.string().optional() }).optional().describe('why it failed: `message`, `code`'),
})
export type RunResult = z.infer<typeof RunResult>

/** An event of the session, as http.md has it. */
const RunEvent = z.looseObject({ version, ...EventEnvelope.shape })

/** Events were lost: what happened is in the result. */
const RunGap = z.strictObject({
  version,
  type: z.literal('gap'),
  reason: z.enum(['expired', 'replaced', 'unseen']),
  after: z.number().int().optional(),
})

export const RunRecord = z.union([RunResult, RunGap, RunEvent])
