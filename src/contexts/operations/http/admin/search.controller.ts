import { Get } from '@nestjs/common';
import { Fault } from '../../../../kernel/fault.js';
import { tidy } from '../../../../kernel/typed-text.js';
import { ApiProperty, Field, Many } from '../../../../platform/dto/field.js';
import { text, UUID } from '../../../../platform/dto/rules.js';
import {
  AdminController,
  Caller,
  type AdminCaller,
} from '../../../../platform/http/admin/admin-controller.js';
import { ListQuery } from '../../../../platform/http/decorators.js';
import { Reads } from '../../../../platform/http/reads.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import type { Found } from '../../../../platform/operations/search.js';
import { GlobalSearch } from '../../application/global-search.js';

const MAX_CHARACTERS = 255;

class SearchQuery {
  @Field(
    text({ minLength: 1, maxLength: MAX_CHARACTERS }, (value) => {
      // PostgreSQL holds neither.
      if (/[\0\p{Cs}]/u.test(value)) return new Fault('must not contain control characters');
      const length = [...tidy(value)].length;
      return length < 1 || length > MAX_CHARACTERS
        ? new Fault(`must have 1 to ${MAX_CHARACTERS} characters`)
        : value;
    }),
    {
      description:
        'The whole of an id, a phone number with its country code, an external id, a wallet, a transaction hash or a request id.',
    },
  )
  q!: string;
}

class SearchResult {
  @ApiProperty({ type: 'string', examples: ['payout'] }) kind!: string;
  @ApiProperty({ type: 'string' }) id!: string;
  @ApiProperty({ ...UUID, nullable: true }) merchant_id!: string | null;
  @ApiProperty({ type: 'string', description: 'One line for people, without personal data.' }) title!: string;
}

class SearchResponse {
  @Many(() => SearchResult) results!: SearchResult[];
}

/** admin-api.md 3: `GET /search`. */
@AdminController('search')
export class AdminSearchController {
  constructor(private readonly search: GlobalSearch) {}

  @Get()
  @ApiRoute({
    id: 'adminSearch',
    tag: 'Admin: search',
    summary: 'Find something by its id or by what it is known by',
    description: 'Exact matches of all kinds that the caller may read, at most 20.',
    scopes: [],
    responses: {
      200: [SearchResponse, 'What matches.'],
      403: '`q` is a phone number, and the scope users_personal:read is missing.',
    },
  })
  @Reads({ view: null, lookup: 'search' })
  async find(
    @Caller() caller: AdminCaller,
    @ListQuery() { q }: SearchQuery,
  ): Promise<{ readonly results: readonly Found[] }> {
    return { results: await this.search.find(caller, q) };
  }
}
