/**
 * Options of a request to a model that content of a workspace may set (threat-model W3): how much a model thinks, writes and
 * varies. What is not listed here, in a name or in a value, is for the installation alone: another option may bring tools of the
 * vendor, keep the conversation there, or send it elsewhere.
 */
import * as z from 'zod'
import { uint } from '../shared.js'

const word = z.string().regex(/^[A-Za-z][\w-]{0,31}$/)
const verbosity = z.enum(['low', 'medium', 'high'])
const budget = z.union([uint, z.literal(-1)])
const number = z.number()

const OPTIONS = {
  reasoningEffort: word,
  reasoning_effort: word,
  reasoningSummary: word,
  reasoning: z.strictObject({
    effort: word.optional(),
    max_tokens: uint.optional(),
    summary: word.optional(),
    enabled: z.boolean().optional(),
    exclude: z.boolean().optional(),
  }),
  thinking: z.strictObject({ type: word.optional(), budgetTokens: uint.optional(), budget_tokens: uint.optional() }),
  thinkingConfig: z.strictObject({
    thinkingBudget: budget.optional(),
    thinkingLevel: word.optional(),
    includeThoughts: z.boolean().optional(),
  }),
  enable_thinking: z.boolean(),
  thinking_budget: uint,
  effort: word,
  textVerbosity: verbosity,
  verbosity,
  temperature: number,
  topP: number,
  top_p: number,
  topK: number,
  top_k: number,
  min_p: number,
  frequencyPenalty: number,
  frequency_penalty: number,
  presencePenalty: number,
  presence_penalty: number,
  repetition_penalty: number,
  seed: uint,
  maxOutputTokens: uint,
  max_output_tokens: uint,
  max_completion_tokens: uint,
  parallelToolCalls: z.boolean(),
  parallel_tool_calls: z.boolean(),
  disableParallelToolUse: z.boolean(),
} as const satisfies Readonly<Record<string, z.ZodType>>

/** By name, with the values each may have. */
export const WORKSPACE_OPTIONS: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(OPTIONS))
