/** Help texts. */

const OVERVIEW = `svc - a local runtime for coding agents

  svc serve               start the server
  svc run "<prompt>"      ask once, print the answer
  svc session <action>    list, show, fork, undo, export and delete conversations
  svc doctor              check this installation
  svc inspect             look at the actors of a running server
  svc plugin <action>     make, list, approve and check plugins
  svc workflow <action>   write, check, preview and run scheduled workflows
  svc openapi             print the OpenAPI document

  svc help <command>      the options of a command
  svc --version           print the version
`

const TOPICS: Readonly<Record<string, string>> = {
  serve: `svc serve [options]

  --port <number>         port to listen on; 0 takes a free one        (4096)
  --hostname <address>    address to listen on                         (127.0.0.1)
  --cors <origin>         let pages of this origin call; may be repeated
  --allow-host <name>     answer to this Host name too; may be repeated
  --inspect-payloads      let the inspector show payloads, prompts included

An address that other machines can reach needs a credential in SVC_AGENT_TOKEN.
`,
  run: `svc run [options] "<prompt>"        the prompt comes from standard input when it is absent or "-"

  --dir <directory>       work in this directory                       (the current one)
  --server <url>          use this server; its token comes from SVC_AGENT_TOKEN
  --session <id>          go on in this session
  --continue, -c          go on in the latest session of the directory
  --model <id>            provider/model, such as svc/offline
  --variant <name>        variant of the model
  --agent <name>          agent to use
  --allow <policy>        answer to permission requests: ask, once, always or reject
  --unattended            nobody will answer: what the run asks and nobody answers is denied after ten minutes
  --json                  print the events as JSON, one per line

The server that uses the state directory answers; without one, svc starts its own for as long as it is needed.
The answer goes to standard output, everything else to standard error. Ctrl-C takes the prompt back, or aborts its run; a second one
leaves at once. Ends with 0 when it is done, 1 when it failed, 2 when the command line was not understood, 3 when something was refused
because nobody was there to be asked, and 130 when it was interrupted.
`,
  session: `svc session <action> [options]

  list                    the sessions of a directory, the latest first
    --dir <directory>     of this directory                            (the current one)
    --all                 of every directory
    --limit <number>      at most so many                              (20)
  show <id>               what it is, what it waits for, and what was said last
    --messages <number>   so many messages                             (4)
  fork <id>               copy it, to go on another way; prints the id of the copy
    --message <id>        only up to this message
  undo <id>               take back the last turn with what it changed on disk; nothing when that was changed since
    --message <id>        everything from this message on
  redo <id>               bring back the next undone turn
    --message <id>        everything before this message
  export [<id>]           print it as JSON; without an id every session of a directory
    --dir <directory>     of this directory                            (the current one)
  import <file>           add what was exported under new ids, which are printed
    --dir <directory>     paths lie in this directory from then on     (the current one)
  delete <id>             remove it and its children for good, after asking
    --yes                 without asking

  --server <url>          ask this server                              (the local one, or one for the moment)
  --output <form>         text or json                                 (text)
`,
  doctor: `svc doctor [options]

  --dir <directory>       check the configuration of this directory    (the current one)
  --server <url>          check this server too                        (the local one, or one for the moment)
  --json                  print the findings as JSON

Ends with 1 when something is broken.
`,
  inspect: `svc inspect [options]

  --open                  open the page in a browser
  --server <url>          the server to look at                        (the local one)
  --trace <file>          show a saved trace instead, without a server

Prints the address of the inspector: live actors, their state charts and what happens to them.
`,
  plugin: `svc plugin <action> [options]

  init <id>               write a working package with one tool
    --language <name>     lua, typescript, javascript or python        (lua)
    --scope <scope>       workspace, session, user or global           (workspace)
  list                    packages, their state and whether they are approved
  trust <id>              show what a package is and may do, ask, and approve exactly that
    --capabilities <a,b>  approve these                                (what it asks for)
    --source <place>      user or workspace, when both have the package
    --session <id>        session of a package with the scope session
    --user <id>           user of a package with the scope user        (you)
    --yes                 approve without asking
  disable <id>            switch a plugin off
  enable <id>             switch it on again
  doctor [<id>]           what keeps plugins from running, and what to do

  --directory <dir>       workspace                                    (the current one)
  --server <url>          ask this server; list and doctor find a local one themselves
  --json                  print the result as JSON

Approvals and switches are written to the configuration of the installation, never to the workspace.
`,
  workflow: `svc workflow <action> [options]

  new <id>                write a workflow file to begin with
    --global              for every workspace, beside your configuration
  validate [<path>...]    every mistake of files and directories       (those of the workspace)
  preview <file>          when it will run; an id of the workspace does too
    --count <number>      so many occurrences                          (10)
    --from <time>         a day or a moment, such as 2026-05-04T09:00:00+02:00    (now)
  list                    the workflows of a workspace
  accept <id>             run its file by schedule, as it is now: what came with a checkout needs it
  run <id>                run it now
  runs <id>               its runs, the newest first
    --limit <number>      at most so many                              (50)

  --directory <dir>       workspace                                    (the current one)
  --server <url>          list, accept, run and runs ask this server; they find a local one themselves
  --json                  print the result as JSON

Mistakes go to standard error as "file:line: message", and the exit code is 1.
`,
  openapi: `svc openapi

Prints the OpenAPI 3.1 document of the HTTP API.
`,
}

/** Help for a command, or the overview. */
export function helpText(topic: string | undefined): string {
  return (topic === undefined ? undefined : TOPICS[topic]) ?? OVERVIEW
}
