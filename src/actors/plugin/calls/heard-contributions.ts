/** What runs inside of the server, or anew for each call, told of as it is called: it has no link that could tell. */
import type { Hook, RouteContribution } from '../../../ports/contributions.js'
import type { Operation } from '../../../ports/doors.js'
import type { Contributions, ToolContribution } from '../../../ports/plugin.js'
import { heard, type OnCall } from './call-log.js'

/** The same contributions; tools, hooks, routes and operations tell of their calls. */
export function heardContributions(contributions: Contributions, onCall: OnCall): Contributions {
  const { tools, hooks, routes, operations, within } = contributions
  return {
    ...contributions,
    ...(tools && { tools: tools.map((tool) => heardTool(tool, onCall)) }),
    ...(hooks && { hooks: mapped(hooks, (name, hook) => heardHook(name, hook, onCall)) }),
    ...(routes && { routes: routes.map((route) => heardRoute(route, onCall)) }),
    ...(operations && { operations: mapped(operations, (id, operation) => heardOperation(id, operation, onCall)) }),
    ...(within && {
      within(directory: string, sessionId?: string) {
        const offers = within(directory, sessionId)
        return { ...offers, tools: offers.tools.map((tool) => heardTool(tool, onCall)) }
      },
    }),
  }
}

function heardTool(tool: ToolContribution, onCall: OnCall): ToolContribution {
  const { id } = tool
  return {
    ...tool,
    invoke: (input, context) =>
      heard(onCall, { from: 'host', method: 'tool.invoke', name: id, sessionId: context.sessionId }, context.signal, () =>
        tool.invoke(input, context),
      ),
  }
}

function heardHook(name: string, hook: Hook, onCall: OnCall): Hook {
  return (context, value, signal) => {
    const { sessionId } = context
    const call = { from: 'host', method: 'hook.invoke', name, ...(typeof sessionId === 'string' && { sessionId }) } as const
    return heard(onCall, call, signal, () => hook(context, value, signal))
  }
}

function heardRoute(route: RouteContribution, onCall: OnCall): RouteContribution {
  const { id } = route.descriptor
  return {
    ...route,
    handle: (request, signal) =>
      heard(onCall, { from: 'host', method: 'route.handle', name: id, sessionId: request.sessionId ?? undefined }, signal, () =>
        route.handle(request, signal),
      ),
  }
}

function heardOperation(name: string, operation: Operation, onCall: OnCall): Operation {
  return (call) => heard(onCall, { from: 'host', method: 'operation', name }, undefined, () => operation(call))
}

function mapped<T>(all: Readonly<Record<string, T>>, change: (name: string, value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, change(name, value)]))
}
