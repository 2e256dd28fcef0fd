/** What a step cost a model in tokens (http-contract §2.7). */
import * as z from 'zod'
import { uint } from '../shared.js'

export const TokenUsage = z
  .looseObject({
    input: uint,
    output: uint,
    reasoning: uint,
    cache: z.looseObject({ read: uint, write: uint }).meta({ id: 'CacheUsage' }),
    total: uint.optional(),
    contextLimit: uint.optional(),
  })
  .meta({ id: 'TokenUsage' })
export type TokenUsage = z.infer<typeof TokenUsage>

export const ZERO_USAGE: TokenUsage = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
