/** `host.provider.call` (capability `provider-access`): models of the user's providers, within a budget of the package. */
import * as z from 'zod'
import { LIMITS } from '../../limits.js'
import { describeOperation } from './operation.js'
import { FOREIGN_SESSION, NOT_OPEN, opaqueId, sessionId, waitMs } from './served.js'

const limits = LIMITS.pluginModels
const tokens = z.int().min(0)

const question = {
  /** `provider/model`, or a word for one: what the session (or the directory) uses, or what the configuration has for small work. */
  model: z.string().min(1).max(300).default('default').describe('`provider/model`, `default` or `small`'),
  system: z.string().optional(),
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), text: z.string() }))
    .min(1)
    .max(limits.messages),
  maxOutputTokens: z.int().min(1).max(limits.outputTokensMost).default(limits.outputTokens),
  temperature: z.number().min(0).max(2).optional(),
  /** On which the cost is recorded. */
  sessionId,
}
const usage = z.strictObject({ inputTokens: tokens, outputTokens: tokens, reasoningTokens: tokens, cachedTokens: tokens, cost: z.number() })
const answered = {
  /** `provider/model` that answered. */
  model: z.string(),
  /** Why it ended: `stop`, `length`, … */
  reason: z.string(),
  usage,
}
const share = z.strictObject({ limit: z.number(), used: z.number() })

const refusals = [
  'the model is not known or cannot be used',
  'the budget of the package for this day is used up',
  'as many questions as may run at a time are running',
  'the provider refuses, fails, or takes too long',
  'the answer is longer than an answer may be',
  FOREIGN_SESSION,
]

export const providerOperations = {
  models: describeOperation({
    summary: 'Lists the models that may be used.',
    input: z.strictObject({ sessionId }).nullish(),
    output: z.strictObject({
      models: z.array(
        z.strictObject({
          model: z.string(),
          name: z.string(),
          contextTokens: z.number(),
          outputTokens: z.number(),
          /** What a million tokens cost. */
          inputCost: z.number(),
          outputCost: z.number(),
        }),
      ),
      default: z.string(),
      small: z.string().nullable(),
    }),
    waits: true,
    refusals: [FOREIGN_SESSION],
  }),
  budget: describeOperation({
    summary: 'Answers what of the budget of the package is used today.',
    input: z.strictObject({}).nullish(),
    output: z.strictObject({
      /** `YYYY-MM-DD`, UTC. */
      day: z.string(),
      tokens: share,
      cost: share,
    }),
    waits: true,
    refusals: [],
  }),
  complete: describeOperation({
    summary: 'Asks a model and answers its whole answer.',
    input: z.strictObject(question),
    output: z.strictObject({ text: z.string(), ...answered }),
    waits: true,
    refusals,
  }),
  open: describeOperation({
    summary: 'Asks a model; its answer is read while it comes.',
    input: z.strictObject(question),
    output: z.strictObject({ opaqueId }),
    waits: true,
    refusals,
  }),
  read: describeOperation({
    summary: 'Answers what a model has said since the last read.',
    input: z.strictObject({
      opaqueId,
      /** How long it waits for more, when there is nothing new. */
      waitMs: waitMs(limits.wait),
    }),
    output: z.strictObject({
      text: z.string(),
      /** With the last of it; the id is forgotten. */
      end: z.strictObject(answered).nullable(),
    }),
    waits: true,
    refusals: [NOT_OPEN, ...refusals.slice(3, 5)],
  }),
  close: describeOperation({
    summary: 'Ends a question, whatever of its answer is still to come.',
    input: z.strictObject({ opaqueId }),
    output: z.strictObject({
      /** Whether it was open. */
      closed: z.boolean(),
    }),
    refusals: [],
  }),
}
