/** `host.policy.call` (capability `policy-invoke`): what the rules of a session say, and asking the person. */
import * as z from 'zod'
import { LIMITS } from '../../limits.js'
import { describeOperation } from './operation.js'
import { FOREIGN_SESSION, NO_SESSION, NOT_OPEN, opaqueId, sessionId, waitMs } from './served.js'

const limits = LIMITS.pluginAsks

const need = {
  /** Group of rules: `bash`, `edit`, `read`, … or the id of a tool. */
  permission: z.string().min(1).max(200),
  patterns: z.array(z.string().min(1).max(limits.patternBytes)).min(1).max(limits.patterns),
  sessionId,
}
/** As rules of permissions have them. */
const action = z.enum(['allow', 'ask', 'deny'])
const rule = z.strictObject({ permission: z.string(), pattern: z.string(), action })
const outcome = z.enum(['waiting', 'granted', 'refused', 'expired'])
const answer = {
  outcome,
  /** What the person wrote, or why it is refused. */
  message: z.string().nullable(),
}

export const policyOperations = {
  evaluate: describeOperation({
    summary: 'Answers what would be decided of each pattern, and by which rule; nobody is asked.',
    input: z.strictObject(need),
    output: z.strictObject({
      /** The strictest of all. */
      decision: action,
      patterns: z.array(
        z.strictObject({
          pattern: z.string(),
          decision: action,
          /** Who decides: `default` = no rule is about it, `answer` = somebody has said "always", `session` = something above the rules. */
          by: z.enum(['rule', 'project-rule', 'workflow-rule', 'delegator', 'answer', 'bypass', 'default', 'session']),
          rule: rule.nullable(),
        }),
      ),
    }),
    waits: true,
    refusals: [NO_SESSION, FOREIGN_SESSION],
  }),
  ask: describeOperation({
    summary: 'Asks the person in the name of the plugin, unless the rules decide; the answer is read with `answer`.',
    input: z.strictObject({ ...need, title: z.string().min(1).max(limits.title) }),
    output: z.strictObject({ opaqueId, ...answer }),
    waits: true,
    refusals: [
      'the plugin is in no tool call of a session, or of several and `sessionId` does not say which: a question belongs to a call and ends with it',
      'as many questions as may wait at a time are waiting',
      FOREIGN_SESSION,
    ],
  }),
  answer: describeOperation({
    summary: 'Answers what became of a question.',
    input: z.strictObject({ opaqueId, waitMs: waitMs(limits.wait) }),
    output: z.strictObject(answer),
    waits: true,
    refusals: [NOT_OPEN],
  }),
  withdraw: describeOperation({
    summary: 'Takes a question back.',
    input: z.strictObject({ opaqueId }),
    output: z.strictObject({
      /** Whether it was known. */
      withdrawn: z.boolean(),
    }),
    refusals: [],
  }),
}
