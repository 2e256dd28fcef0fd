/** What would be decided of a call, and why. */
import * as z from 'zod'
import { PermissionAction, PermissionRule, RememberedAnswer } from './rules.js'

const DECIDES = {
  rule: 'a rule of the installation, of the agent or of the session',
  'project-rule': 'a rule of the workspace, which makes it stricter',
  'workflow-rule': 'a rule of the workflow',
  delegator: 'a rule of a session above',
  answer: 'a remembered answer',
  explicit: 'what it does, which takes an answer of its own each time',
  harmless: 'the sandbox, in which it does no harm',
  bypass: '`dangerouslySkipPermissions`',
  floor: 'the floor of hosted sessions',
  default: 'no rule: what nothing is said of is asked about',
} as const
const words = Object.entries(DECIDES).map(([name, means]) => `\`${name}\`: ${means}`)

const Decided = z.looseObject({
  pattern: z.string(),
  decision: PermissionAction,
  by: z.enum(Object.keys(DECIDES) as (keyof typeof DECIDES)[]).describe(`${words.join('; ')}.`),
  rule: PermissionRule.nullable(),
  answer: RememberedAnswer.optional(),
})

const ExplainedNeed = z.looseObject({
  permission: z.string(),
  title: z.string().optional(),
  explicit: z.string().optional().describe('Why it takes an answer of its own each time.'),
  decision: PermissionAction,
  patterns: z.array(Decided),
})

export const Explanation = z
  .looseObject({
    decision: PermissionAction.describe('The strictest of its needs.'),
    agent: z.string(),
    directory: z.string(),
    needs: z.array(ExplainedNeed).describe('Each has to be allowed; none means that nothing has to be.'),
  })
  .meta({ id: 'PermissionExplanation' })
export type Explanation = z.infer<typeof Explanation>
export type ExplainedNeed = z.infer<typeof ExplainedNeed>
