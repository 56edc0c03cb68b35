// @ts-check
// The worker thread that owns the connections to a data file. Plain JavaScript, because Node starts
// it without compilation: from the source in tests, from a copy beside `sqlite.js` in the build.
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { BUSY_TIMEOUT_MS, messageOf, SqliteConnection } from './sqlite-connection.js'

/**
 * @typedef {import('../sql/sql-driver.ts').SqlStatement} Statement
 * @typedef {{ id: number, type: 'read' | 'write', statements: Statement[] }} StatementsRequest
 * @typedef {{ id: number, type: 'close' }} CloseRequest
 * @typedef {new (path: string) => import('./sqlite-connection.js').OwnDatabase} Driver
 */

const IN_MEMORY = ':memory:'
const BUSY_RETRY_MS = 20
/** The size of the page cache for reading. A list that reads many rows is slow without them. */
const READER_CACHE_KIB = 32 * 1024
const BUSY_MESSAGE = 'database is locked'
const MODULE_NOT_FOUND = 'ERR_MODULE_NOT_FOUND'
const NO_DRIVER =
  'this Node release has no node:sqlite. Use Node 22.13 or later, or run `npm install @photostructure/sqlite@1`'

/** @returns {Promise<Driver>} */
async function loadDriver() {
  // An import would fail in Node releases before 22.13, which do not provide the module by default.
  /** @type {any} */
  const builtin = process.getBuiltinModule('node:sqlite')
  if (builtin !== undefined) return builtin.DatabaseSync
  try {
    return (await import('@photostructure/sqlite')).DatabaseSync
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === MODULE_NOT_FOUND
    throw isMissing ? new Error(NO_DRIVER) : error
  }
}

/**
 * @param {Driver} Driver
 * @param {string} path
 */
function connect(Driver, path) {
  const connection = new SqliteConnection(new Driver(path))
  connection.execute(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return connection
}

/**
 * @param {Driver} Driver
 * @param {string} path
 */
function openWriter(Driver, path) {
  if (path !== IN_MEMORY) createPrivateFile(path)
  const connection = connect(Driver, path)
  try {
    if (path !== IN_MEMORY) {
      switchToWal(connection)
      refuseIfDamaged(connection)
    }
    connection.execute('pragma synchronous = full')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * Creates a missing data file and its folder with access only for the user of this process. SQLite
 * creates its other files with the permissions of the data file. Existing permissions are kept.
 *
 * @param {string} path
 */
function createPrivateFile(path) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
}

/**
 * @param {Driver} Driver
 * @param {string} path
 */
function openReader(Driver, path) {
  const connection = connect(Driver, path)
  connection.execute('pragma query_only = on')
  connection.execute(`pragma cache_size = -${READER_CACHE_KIB}`)
  return connection
}

/**
 * Enables write-ahead logging. Retries if another process opens the new file at the same time,
 * because SQLite does not apply its busy timeout to this statement.
 *
 * @param {SqliteConnection} connection
 */
function switchToWal(connection) {
  const deadline = Date.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      const [row] = connection.execute('pragma journal_mode = wal')
      if (row?.journal_mode !== 'wal') throw new Error('its folder allows no write-ahead log')
      return
    } catch (error) {
      if (messageOf(error) !== BUSY_MESSAGE || Date.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_RETRY_MS)
    }
  }
}

/** @param {SqliteConnection} connection */
function refuseIfDamaged(connection) {
  const [row] = connection.execute('pragma quick_check(1)')
  const result = row?.quick_check
  if (result !== 'ok') throw new Error(`it is damaged (${result})`)
}

/** @param {{ path: string, readsOnly: boolean }} file */
async function open({ path, readsOnly }) {
  const Driver = await loadDriver()
  if (readsOnly) {
    const reader = openReader(Driver, path)
    return { writer: reader, reader }
  }
  const writer = openWriter(Driver, path)
  const reader = path === IN_MEMORY ? writer : openReader(Driver, path)
  return { writer, reader }
}

/**
 * @param {{ writer: SqliteConnection, reader: SqliteConnection }} connections
 * @param {StatementsRequest | CloseRequest} request
 */
function handle({ writer, reader }, request) {
  if (request.type === 'write') return writer.write(request.statements)
  if (request.type === 'read') return reader.read(request.statements)
  if (reader !== writer) reader.close()
  writer.close()
  return []
}

/** @returns {Promise<(request: StatementsRequest | CloseRequest) => object>} */
async function createResponder() {
  try {
    const connections = await open(workerData)
    return (request) => {
      try {
        return { rows: handle(connections, request) }
      } catch (error) {
        return { failure: messageOf(error) }
      }
    }
  } catch (error) {
    const unusable = messageOf(error)
    return (request) => (request.type === 'close' ? { rows: [] } : { unusable })
  }
}

const respond = await createResponder()
// The port buffers earlier requests until a listener is attached.
parentPort?.on('message', (/** @type {(StatementsRequest | CloseRequest)[]} */ requests) => {
  parentPort?.postMessage(requests.map((request) => ({ id: request.id, ...respond(request) })))
})
