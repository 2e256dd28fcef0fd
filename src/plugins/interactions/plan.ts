/** Tools `plan_enter` and `plan_exit`: from the next step on the session plans, or carries out again (sessions-events §10.1). */
import * as z from 'zod'
import type { NativeHost, ToolContribution } from '../../ports/plugin.js'
import { defineTool } from '../../ports/plugin.js'

const Input = z.strictObject({})

const TOOLS = [
  {
    id: 'plan_enter',
    isOn: true,
    title: 'Enter plan mode',
    description:
      'Turns plan mode on: from the next step on the agent answers that studies and plans and changes no code. Use it when the user wants a plan first.',
    done: 'Plan mode is on. Study and plan; change no files.',
    already: 'Plan mode is on already.',
  },
  {
    id: 'plan_exit',
    isOn: false,
    title: 'Leave plan mode',
    description:
      'Turns plan mode off: from the next step on the agent of the session answers again. Use it when the plan is finished and the user wants it carried out.',
    done: 'Plan mode is off. Carry the plan out when the user wants it.',
    already: 'Plan mode is off already.',
  },
] as const

export function planTools({ planMode }: Pick<NativeHost, 'planMode'>): ToolContribution[] {
  return TOOLS.map(({ id, isOn, title, description, done, already }) =>
    defineTool<z.infer<typeof Input>>({
      id,
      description,
      input: Input,
      permission: id,
      needs: async () => [{ permission: id, patterns: ['*'], title }],
      async invoke(_input, { sessionId, signal }) {
        signal.throwIfAborted()
        const isChanged = planMode.set(sessionId, isOn)
        return { title, output: isChanged ? done : already, metadata: { mode: isOn ? 'plan' : null } }
      },
    }),
  )
}
