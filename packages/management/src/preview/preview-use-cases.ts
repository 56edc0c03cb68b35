import { endpoints, hasPermission, type Preview } from '@ff/protocol/management'
import { defineQuery } from '../changes/use-case.ts'
import type { Previews } from './previews.ts'

/** Creates the use case of the preview. */
export function createPreviewUseCases(previews: Previews) {
  return {
    /**
     * Returns what a draft and the published version serve to the observed contexts of an
     * environment. The keys of contexts are returned only to roles that may read observed contexts.
     */
    previewChanges: defineQuery('previewChanges', {
      async run({ body: question, environment, organization, actor }) {
        const orgId = organization.id
        const preview = await previews.preview({ question, environment, orgId, actor })
        const { permission } = endpoints.listObservedContexts
        return hasPermission(actor.role, permission) ? preview : withoutExamples(preview)
      },
    }),
  }
}

function withoutExamples(preview: Preview): Preview {
  const flags = preview.flags.map((flag) => {
    return { ...flag, moves: flag.moves.map((move) => ({ ...move, examples: [] })) }
  })
  return { ...preview, flags }
}
