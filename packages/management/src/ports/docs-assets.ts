/** The files of Swagger UI that the API page loads. */
export const DOCS_ASSETS = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'] as const

/** The name of a file of Swagger UI. */
export type DocsAsset = (typeof DOCS_ASSETS)[number]

/** Returns the content of a file of Swagger UI. The API page at `/docs` loads these files. */
export type ReadDocsAsset = (name: DocsAsset) => Promise<Uint8Array>
