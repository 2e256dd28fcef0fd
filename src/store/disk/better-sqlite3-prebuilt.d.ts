/** Another release of the same package under a second name; npm leaves it out on Nodes it does not support. */
declare module 'better-sqlite3-prebuilt' {
  import Database from 'better-sqlite3'
  export default Database
}
