import { ApiTags } from '@nestjs/swagger';
import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
import { tidy } from '../../../kernel/typed-text.js';
import { Fault } from '../../../kernel/fault.js';
import { ApiProperty, Field, Nested, PageOf, type Rule } from '../../../platform/dto/field.js';
import { nullable, text, TEXT, TIME, UUID } from '../../../platform/dto/rules.js';
import { line } from '../../../platform/http/admin/writes.js';
import { MAX_PAGE, ListParameters } from '../../../platform/http/list-query.js';
import {
  DEFAULT_PORTAL_SCOPES,
  PORTAL_SCOPES,
  PORTAL_SESSION_STATUSES,
  type PortalActor,
} from './portal-session.js';
import { Controller, Delete, Get, Inject, Post } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { httpConfig, listenerUrl, type HttpConfig } from '../../../platform/config/config.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  Cause,
  ListQuery,
  MerchantId,
  OptionalBody,
  StoresResponseWithEvents,
  Ticket,
  UuidParam,
} from '../../../platform/http/decorators.js';
import { UpToDate } from '../../../platform/http/reads.js';
import { Reply } from '../../../platform/http/reply.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { PortalSessions } from './portal-sessions.service.js';
import { isPlainLoopback } from './sites.page.js';
import { DIRECTORY_VIEW, PortalSessionsView } from '../merchants/directory.view.js';
import { PORTAL_PAGE } from '../../../platform/http/listeners.js';
import { PageListeners } from '../../../platform/http/http.module.js';

const MAX_URL = 2048;

const label = line(1, 255, tidy);

const SCOPES = {
  type: 'array',
  items: { type: 'string', enum: PORTAL_SCOPES },
  minItems: 1,
  uniqueItems: true,
};

const scopes: Rule = {
  schema: SCOPES,
  read: (value) => {
    if (!Array.isArray(value) || value.length === 0) return new Fault('must be an array of scopes');
    const unknown = value.findIndex((each) => !PORTAL_SCOPES.includes(each as string));
    if (unknown >= 0) return new Fault(`[${unknown}] must be one of ${PORTAL_SCOPES.join(', ')}`);
    return PORTAL_SCOPES.filter((each) => value.includes(each));
  },
};

class NewActor implements PortalActor {
  @Field(label, { description: 'Your id of the person.' }) id!: string;
  @Field(label, { description: 'Displayed in the portal.' }) name!: string;
}

class NewPortalSessionBody {
  @Field(scopes, {
    optional: true,
    description: 'Absent: every `:read`, `endpoints:write` and `deliveries:write`.',
  })
  scopes?: readonly string[];

  @Nested(() => NewActor, { optional: true, nullable: true, description: 'Who will use the session.' })
  actor?: NewActor | null;

  @Field(text({ format: 'uri', maxLength: MAX_URL }), {
    optional: true,
    nullable: true,
    description: 'Where a link in the portal leads back to: https; in the sandbox also http on loopback.',
  })
  return_url?: string | null;
}

class DisplayedActor {
  @ApiProperty({ type: 'string' }) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
}

class DisplayedPortalSession {
  @ApiProperty(UUID) id!: string;
  @Nested(() => DisplayedActor, { nullable: true }) actor!: DisplayedActor | null;
  @ApiProperty(SCOPES) scopes!: readonly string[];
  @ApiProperty(nullable(TEXT)) return_url!: string | null;
  @ApiProperty({ type: 'string', enum: PORTAL_SESSION_STATUSES }) status!: string;
  @ApiProperty(TIME) created_at!: string;
  @ApiProperty({ ...TIME, description: 'The url is good until then.' }) code_expires_at!: string;

  @ApiProperty(nullable(TIME, 'null until the person has opened the url.'))
  session_expires_at!: string | null;

  @ApiProperty(nullable(TIME, 'Exact to a minute.')) last_seen_at!: string | null;
}

class PortalSessionResponse {
  @Nested(() => DisplayedPortalSession) portal_session!: DisplayedPortalSession;

  @ApiProperty({ type: 'string', format: 'uri', description: 'Redirect the person there at once.' })
  url!: string;
}

class PortalSessionsResponse extends PageOf('portal_sessions', DisplayedPortalSession, {
  maxItems: MAX_PAGE,
}) {}

function isReturnUrl(url: string, mode: 'sandbox' | 'production'): boolean {
  if (url.length > MAX_URL || CONTROL_CHARACTERS.test(url) || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (mode === 'sandbox' && isPlainLoopback(url));
}

/** The portal sessions for persons of the merchant (admin-api.md 6). */
@ApiTags('Portal sessions')
@Controller('merchants/v1/portal_sessions')
export class PortalSessionsController {
  constructor(
    private readonly sessions: PortalSessions,
    private readonly view: PortalSessionsView,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly listeners: PageListeners,
  ) {}

  @Post()
  @StoresResponseWithEvents()
  @ApiRoute({
    id: 'createPortalSession',
    summary: 'Create a session of the portal',
    description: 'Only this response has `url`, which works once and for 15 minutes.',
    responses: {
      201: [PortalSessionResponse, 'The session waits for its person.'],
      400: 'The JSON or the Idempotency-Key is malformed.',
      422: 'A scope is unknown, or another field is at fault.',
    },
  })
  async create(
    @MerchantId() merchantId: string,
    @OptionalBody() { scopes = DEFAULT_PORTAL_SCOPES, actor = null, return_url = null }: NewPortalSessionBody,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
  ): Promise<Reply> {
    if (return_url !== null && !isReturnUrl(return_url, this.config.mode))
      throw DomainError.invalid({ return_url: ['must be an https URL'] });
    const person = actor && { id: actor.id, name: actor.name };
    const session = { merchant_id: merchantId, scopes, actor: person, return_url };
    return new Reply(201, await this.sessions.create(session, this.portalUrl(), ticket, cause));
  }

  @Get()
  @ApiRoute({
    id: 'listPortalSessions',
    summary: 'List sessions of the portal, newest first',
    responses: {
      200: [PortalSessionsResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'page_size or page_cursor is invalid, or a parameter is unknown; detail names it.',
    },
  })
  @UpToDate(DIRECTORY_VIEW)
  async list(@MerchantId() merchantId: string, @ListQuery() query: ListParameters) {
    return this.view.page(merchantId, query);
  }

  @Delete(':id')
  @ApiRoute({
    id: 'revokePortalSession',
    summary: 'Revoke a session of the portal',
    responses: {
      204: 'Neither its url nor its browser works any more.',
      400: 'The Idempotency-Key is malformed.',
      404: 'The merchant has no such session.',
    },
  })
  async revoke(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Portal session') id: string,
    @Cause() cause: EventMetadata,
  ): Promise<void> {
    await this.sessions.revoke(merchantId, id, cause);
  }

  /** Returns the URL of the portal. Throws `unavailable` in production if PORTAL_URL is not set. */
  private portalUrl(): string {
    const { mode, portalUrl, host, portalPort } = this.config;
    if (portalUrl !== null) return portalUrl;
    if (mode === 'production')
      throw new DomainError('unavailable', 'The portal is not configured on this server');
    return listenerUrl(host, this.listeners.portOf(PORTAL_PAGE) ?? portalPort);
  }
}
