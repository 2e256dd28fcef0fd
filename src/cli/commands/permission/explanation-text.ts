/** What would be decided of a call, in the words of people. Pure. */
import type { ExplainedNeed, Explanation } from '../../../protocol/interaction/explanation.js'
import { escapedText } from '../../../protocol/text/visible-text.js'
import { localTime } from '../session/session-record.js'

const DECIDED = { allow: 'allowed', ask: 'asked', deny: 'denied' } as const

export function explanationText(asked: string, { decision, agent, needs }: Explanation): string {
  const head = `${DECIDED[decision]}: ${escapedText(asked)} (agent ${escapedText(agent)})`
  if (needs.length === 0) return `${head}\n  it needs no permission\n`
  return [head, ...needs.flatMap(needLines)].map((line) => `${line}\n`).join('')
}

function needLines({ permission, patterns, explicit }: ExplainedNeed): string[] {
  return patterns.map(
    (each) => `  ${DECIDED[each.decision]}  ${escapedText(`${permission}: ${each.pattern}`)}, by ${reason(each, explicit)}`,
  )
}

function reason({ by, rule, answer }: ExplainedNeed['patterns'][number], explicit = ''): string {
  const said = rule === null ? '' : ` ${escapedText(`${rule.permission}: ${rule.pattern} -> ${rule.action}`)}`
  switch (by) {
    case 'rule':
      return `the rule${said}`
    case 'project-rule':
      return `the rule${said} of the workspace`
    case 'workflow-rule':
      return `the rule${said} of the workflow`
    case 'delegator':
      return `a rule of the session that delegated to it:${said}`
    case 'answer': {
      const { id = '', by: who = 'somebody', remembered } = answer ?? {}
      const when = remembered === undefined ? '' : ` on ${localTime(new Date(remembered).toISOString())}`
      return `the answer ${id.slice(0, 12)} that ${escapedText(who)} gave${when} (svc permissions revoke takes it back)`
    }
    case 'explicit':
      return `what it does, each time anew: ${escapedText(explicit)}`
    case 'harmless':
      return 'the sandbox, in which it does no harm'
    case 'bypass':
      return 'dangerouslySkipPermissions'
    case 'floor':
      return 'the floor of hosted sessions'
    case 'default':
      return 'no rule, so it is asked'
  }
}
