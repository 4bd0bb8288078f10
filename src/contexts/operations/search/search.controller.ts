import { Get, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Fault } from '../../../kernel/fault.js';
import { isUuid } from '../../../kernel/ids.js';
import { asciiDigits, tidy } from '../../../kernel/typed-text.js';
import { ApiProperty, Field, Many } from '../../../platform/dto/field.js';
import { nullable, text, UUID } from '../../../platform/dto/rules.js';
import { AdminController, Caller, type AdminCaller } from '../../../platform/http/admin/admin.guard.js';
import { ListQuery } from '../../../platform/http/decorators.js';
import { Reads } from '../../../platform/http/reads.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { requireScopes } from '../../../platform/operations/scopes.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';

const MAX_CHARACTERS = 255;

class SearchParameters {
  @Field(
    text({ minLength: 1, maxLength: MAX_CHARACTERS }, (value) => {
      // PostgreSQL stores neither NUL characters nor lone surrogates.
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
  @ApiProperty(nullable(UUID)) merchant_id!: string | null;
  @ApiProperty({ type: 'string', description: 'One line for people, without personal data.' }) title!: string;
}

class SearchResponse {
  @Many(() => SearchResult) results!: SearchResult[];
}

const MAX_RESULTS = 20;

/** A phone number in the international form, with the usual separators. */
const PHONE_NUMBER = /^\+[0-9][0-9 ().-]{5,30}$/;

/** Finds exact matches in all contexts (`GET /search`, admin-api.md 3). */
@AdminController('search')
export class AdminSearchController implements OnModuleInit {
  private searches: ReturnType<typeof Searches.discover> = [];

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    this.searches = Searches.discover(this.discovery);
  }

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
    @Caller() { scopes, merchants }: Pick<AdminCaller, 'scopes' | 'merchants'>,
    @ListQuery() { q }: SearchParameters,
  ): Promise<{ readonly results: readonly Found[] }> {
    const query = { ...searchText(q), merchants, limit: MAX_RESULTS };
    if (query.phoneNumber !== null) requireScopes({ scopes }, ['users_personal:read']);
    const allowed = this.searches.filter(({ value: scope }) => scopes.has(scope));
    const found = await Promise.all(allowed.map((search) => search.call(query)));
    const isReached = ({ merchant_id: id }: Found): boolean =>
      merchants === null || (id !== null && merchants.includes(id));
    return { results: found.flat().filter(isReached).slice(0, MAX_RESULTS) };
  }
}

/** Reads a query as text, as a UUID and as an E.164 number. A form that does not fit is null. */
export function searchText(q: string): Pick<SearchQuery, 'text' | 'uuid' | 'phoneNumber'> {
  // An unescaped plus of a phone number arrives as a blank.
  const text = tidy(q.replace(/^ (?=[0-9][0-9 ().-]{5,30}$)/, '+'));
  const number = asciiDigits(text);
  return {
    text,
    uuid: isUuid(text) ? text.toLowerCase() : null,
    phoneNumber: PHONE_NUMBER.test(number) ? `+${number.replace(/[^0-9]/g, '')}` : null,
  };
}
