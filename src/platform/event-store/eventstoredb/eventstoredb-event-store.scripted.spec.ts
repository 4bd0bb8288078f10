import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featureMessages from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import { eventually } from '../../../../test/support/eventually.js';
import { openEventStoreDb, type EventStoreDbEventStore } from './eventstoredb-event-store.js';

interface Append {
  readonly call: ServerDuplexStream<messages.BatchAppendReq, messages.BatchAppendResp>;
  readonly request: messages.BatchAppendReq;
}

type Respond = (error: null, message: unknown) => void;

/** A server with the protocol of appends, for events that are rare with a real one. */
class ScriptedNode {
  readonly appends: Append[] = [];
  port = 0;
  private readonly server = new Server();

  static async start(): Promise<ScriptedNode> {
    const node = new ScriptedNode();
    node.server.addService(streams.StreamsService as never, {
      batchAppend: (call: Append['call']) => {
        call.on('data', (request: messages.BatchAppendReq) => node.appends.push({ call, request }));
        call.on('error', () => undefined);
      },
    });
    node.server.addService(features.ServerFeaturesService as never, {
      getSupportedMethods: (_call: unknown, respond: Respond) => {
        const method = new featureMessages.SupportedMethod();
        method.setServiceName('event_store.client.streams.streams');
        method.setMethodName('batchappend');
        const methods = new featureMessages.SupportedMethods();
        methods.setEventStoreServerVersion('24.6.0');
        methods.addMethods(method);
        respond(null, methods);
      },
    });
    await node.listen();
    return node;
  }

  private async listen(): Promise<void> {
    this.port = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
  }

  stop(): void {
    this.server.forceShutdown();
  }
}

/** Confirms an append. */
function confirm({ call, request }: Append): void {
  const success = new messages.BatchAppendResp.Success();
  success.setCurrentRevision('0');
  const position = new shared.AllStreamPosition();
  position.setCommitPosition('1');
  position.setPreparePosition('1');
  success.setPosition(position);
  const response = new messages.BatchAppendResp();
  response.setCorrelationId(request.getCorrelationId());
  response.setStreamIdentifier(request.getOptions()!.getStreamIdentifier());
  response.setSuccess(success);
  call.write(response);
}

let node: ScriptedNode;
let stores: EventStoreDbEventStore[];

beforeEach(async () => {
  node = await ScriptedNode.start();
});

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  node.stop();
});

function append(store: EventStoreDbEventStore): Promise<unknown> {
  const events = [{ id: newId(), type: 'x.v1', data: {}, metadata: {} }];
  return store.commit({ appends: [{ stream: `s-${newId()}`, events, expected: 'no_stream' }] });
}

describe('two connections that append to EventStoreDB in one process', () => {
  it('both send their append again after one connection ends, and ignore a late response', async () => {
    const url = `esdb://127.0.0.1:${node.port}?tls=false`;
    stores = [0, 1].map(() => openEventStoreDb(url));
    const { appends } = node;
    const first = append(stores[0]!);
    await eventually(() => appends.length === 1);
    const second = append(stores[1]!);
    await eventually(() => appends.length === 2);
    const [lost, late] = appends;
    lost!.call.emit('error', { code: status.UNAVAILABLE, details: 'no longer the leader' });
    await eventually(() => appends.length === 4);
    confirm(late!);
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const again of appends.slice(2)) confirm(again);
    const outcomes = await Promise.all([first, second]);
    expect(outcomes).toMatchObject([{ outcome: 'committed' }, { outcome: 'committed' }]);
    const ids = appends.map(({ request }) => request.getProposedMessagesList()[0]!.getId()!.getString());
    expect(new Set(ids.slice(2))).toEqual(new Set(ids.slice(0, 2)));
  });
});
