import { ApiProperty, Many } from '../../../platform/dto/field.js';
import { digits, text, TIME, UUID, uuid } from '../../../platform/dto/rules.js';
import { Filter, MAX_PAGE, PageParameters } from '../../../platform/http/page-query.js';
import { Fault } from '../../../kernel/fault.js';

const MAX_PATH = 1024;

const pathPrefix = text({ maxLength: MAX_PATH, examples: ['/merchants/v1/payouts'] }, (value) =>
  value.startsWith('/') && value.length <= MAX_PATH && !value.includes('\0')
    ? value
    : new Fault('must begin with / and have at most 1024 characters'),
);

/** Filters that operators and merchants have. */
export class RequestsQuery extends PageParameters {
  @Filter(digits(100, 599), 'Only requests with this status.') status?: number;
  @Filter(pathPrefix, 'Only requests whose path begins so.') path?: string;
  @Filter(uuid, 'Only this request: the Request-Id of its response.') request_id?: string;
}

export class AdminRequestsQuery extends RequestsQuery {
  @Filter(uuid, 'Only requests of this merchant.') merchant_id?: string;
}

class LoggedRequest {
  @ApiProperty(UUID) request_id!: string;
  @ApiProperty(UUID) merchant_id!: string;

  @ApiProperty({
    ...UUID,
    nullable: true,
    description: 'The secret that signed it; null: none was verified.',
  })
  credential_id!: string | null;

  @ApiProperty(TIME) at!: string;
  @ApiProperty({ type: 'string' }) method!: string;
  @ApiProperty({ type: 'string' }) path!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    description: 'Names of the parameters in the query, without their values.',
  })
  query_names!: string[];

  @ApiProperty({ type: 'integer', minimum: 100, maximum: 599 }) status!: number;
  @ApiProperty({ type: 'number', minimum: 0 }) duration_ms!: number;

  @ApiProperty({ type: 'string', nullable: true, description: 'The `detail` of its problem.' })
  refusal!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Of a signature that did not match: what was to be signed, with the body as `sha256:<hex> (<length> bytes)`.',
  })
  string_to_sign!: string | null;
}

export class RequestsResponse {
  @Many(() => LoggedRequest, { maxItems: MAX_PAGE }) requests!: LoggedRequest[];
  @ApiProperty({ type: 'string', nullable: true }) next_cursor!: string | null;
}
