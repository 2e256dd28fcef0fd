/** The built-in plugin with the tools that keep a todo list, ask the user and switch plan mode (sessions-events §9, §10.4). */
import * as z from 'zod'
import type { NativeHost, NativePlugin, PermissionNeed, ToolContribution } from '../../ports/plugin.js'
import { defineTool } from '../../ports/plugin.js'
import { planTools } from './plan.js'

export function interactionsPlugin(): NativePlugin {
  return {
    id: 'dev.svc.interactions',
    name: 'Interactions',
    capability: { id: 'svc.interactions', apiPrefix: '/v2/interactions' },
    requires: ['svc.permissions'],
    eventNamespaces: ['question', 'todo'],
    start: (host) => ({ tools: [todoTool(host), questionTool(host), ...planTools(host)] }),
  }
}

const TodoInput = z.strictObject({
  todos: z
    .array(
      z.strictObject({
        content: z.string().min(1).max(2000).describe('What is to be done, in one sentence.'),
        status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
        priority: z.string().min(1).max(50).describe('high, medium or low.'),
      }),
    )
    .max(200)
    .describe('The whole list, in order. It replaces the list there was.'),
})

const LIST_DESCRIPTION = `Keeps the todo list of this session, which the user sees.
- Use it for work of three steps or more; leave it out for simple requests.
- Always send the whole list. Have one item in_progress at a time, and mark it completed as soon as it is done.`

function todoTool({ todos }: Pick<NativeHost, 'todos'>): ToolContribution {
  return defineTool<z.infer<typeof TodoInput>>({
    id: 'todowrite',
    description: LIST_DESCRIPTION,
    input: TodoInput,
    permission: 'todowrite',
    needs: async () => own('todowrite', 'Update the todo list'),
    async invoke(input, context) {
      context.signal.throwIfAborted()
      todos.replace(context.sessionId, input.todos)
      const open = input.todos.filter(({ status }) => status === 'pending' || status === 'in_progress').length
      return {
        title: open === 1 ? '1 todo' : `${open} todos`,
        output: JSON.stringify(input.todos, null, 2),
        metadata: { todos: input.todos },
      }
    },
  })
}

const QuestionInput = z.strictObject({
  questions: z
    .array(
      z.looseObject({
        question: z.string().max(2000).optional().describe('The whole question. Always give it.'),
        header: z.string().max(100).optional().describe('A label of a few words.'),
        options: z
          .array(
            z.looseObject({
              label: z.string().max(500).describe('The answer, in a few words.'),
              description: z.string().max(2000).optional(),
            }),
          )
          .max(20)
          .optional()
          .describe('Answers to choose from. The user may always write another one.'),
        multiple: z.boolean().optional().describe('Whether more than one option may be chosen. Default false.'),
      }),
    )
    .min(1)
    .max(10)
    .describe('Questions to ask at once.'),
})

const QUESTION_DESCRIPTION = `Asks the user and waits for the answer.
- Use it when only the user can decide and a wrong guess would be costly. Do not ask for what you can find out yourself.
- Ask everything at once; put the option you recommend first.`

function questionTool({ questions }: Pick<NativeHost, 'questions'>): ToolContribution {
  return defineTool<z.infer<typeof QuestionInput>>({
    id: 'question',
    description: QUESTION_DESCRIPTION,
    input: QuestionInput,
    permission: 'question',
    needs: async () => own('question', 'Ask the user'),
    async invoke(input, context) {
      const answers = await questions.ask(context, input.questions)
      const lines = input.questions.map((question, index) => `"${questionText(question)}"="${answerText(answers[index])}"`)
      return {
        title: input.questions.length === 1 ? 'Asked 1 question' : `Asked ${input.questions.length} questions`,
        output: `The user answered: ${lines.join(', ')}.`,
        metadata: { answers },
      }
    },
  })
}

function questionText({ question, header }: z.infer<typeof QuestionInput>['questions'][number]): string {
  return oneLine(question ?? header ?? '')
}

function answerText(answer: readonly string[] | undefined): string {
  const text = oneLine((answer ?? []).join(', '))
  return text === '' ? 'Unanswered' : text
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

function own(permission: string, title: string): readonly PermissionNeed[] {
  return [{ permission, patterns: ['*'], title }]
}
