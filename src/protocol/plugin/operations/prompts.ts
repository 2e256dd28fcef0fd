/** `host.prompt.read` (capability `prompt-read`): what was asked in the sessions of a plugin's workspace. */
import * as z from 'zod'
import { LIMITS } from '../../limits.js'
import { describeOperation } from './operation.js'
import { cursor, FOREIGN_SESSION, NO_SESSION, sessionId } from './served.js'

const { page, pageMost } = LIMITS.pluginReads
const limit = z.int().min(1).max(pageMost).default(page)

const prompt = z.strictObject({
  sessionId: z.string(),
  /** Null while it waits in the queue under no id of its own. */
  messageId: z.string().nullable(),
  text: z.string(),
  /** The text was longer. */
  cut: z.boolean(),
  agent: z.string().nullable(),
  /** Unix milliseconds; null while it waits. */
  createdAt: z.int().nullable(),
})

export const promptOperations = {
  current: describeOperation({
    summary: 'Answers the prompt that was admitted last.',
    input: z.strictObject({ sessionId }).nullish(),
    output: z.strictObject({ prompt: prompt.nullable() }),
    refusals: [NO_SESSION, FOREIGN_SESSION],
  }),
  list: describeOperation({
    summary: 'Lists the prompts of a session, the latest first.',
    input: z.strictObject({ sessionId, cursor: cursor.optional(), limit }),
    output: z.strictObject({ prompts: z.array(prompt), cursor: cursor.nullable() }),
    refusals: [NO_SESSION, FOREIGN_SESSION],
  }),
  waiting: describeOperation({
    summary: 'Lists the prompts that wait in the queue of a session, the oldest first.',
    input: z.strictObject({ sessionId }).nullish(),
    output: z.strictObject({ prompts: z.array(prompt) }),
    refusals: [NO_SESSION, FOREIGN_SESSION],
  }),
  sessions: describeOperation({
    summary: 'Lists the sessions whose prompts may be read, those that changed last first.',
    input: z.strictObject({ cursor: cursor.optional(), limit }),
    output: z.strictObject({
      sessions: z.array(z.strictObject({ sessionId: z.string(), parentId: z.string().nullable(), title: z.string(), updatedAt: z.int() })),
      cursor: cursor.nullable(),
    }),
    refusals: ['the cursor is none of an earlier answer'],
  }),
}
