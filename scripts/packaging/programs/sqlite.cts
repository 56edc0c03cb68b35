// Opens a SQLite store, and prints `opened` or the error.
import sqlite = require('@ff/storage/sqlite')

const { storage } = sqlite.sqlite({ path: ':memory:' })
const opened = storage.migrate().then(() => storage.close())
opened.then(
  () => console.log('opened'),
  (error: unknown) => console.log(String(error)),
)
