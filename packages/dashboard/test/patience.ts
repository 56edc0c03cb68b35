import { configure } from '@testing-library/dom'

// Components may take longer than a second on a busy machine.
configure({ asyncUtilTimeout: 10_000 })
