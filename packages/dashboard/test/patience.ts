import { configure } from '@testing-library/dom'

// The limit only ends a test that hangs. The default of a second is too short on a busy machine.
configure({ asyncUtilTimeout: 60_000 })
