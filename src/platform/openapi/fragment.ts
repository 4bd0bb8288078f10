/** One context's part of the OpenAPI 3.1 document. Schemas are JSON Schema 2020-12. */
export interface OpenApiFragment {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly schemas: Readonly<Record<string, object>>;
}

/** A response that is a problem-details object (contract.md 3.1). */
export function problemResponse(description: string): object {
  return {
    description,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}
