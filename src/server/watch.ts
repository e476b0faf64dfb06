/**
 * Connections, and how long they may take. Clients are given turns of a clock that stands still while the server itself is busy, and what
 * has arrived is read before anybody is judged: after ten seconds in which no byte could be read, nobody is late.
 *
 * | a connection                                      | is ended                                           |
 * |---------------------------------------------------|----------------------------------------------------|
 * | whose next request, all of its headers, is awaited | after `TURNS` turns                                |
 * | for which a reply is being made                   | never                                              |
 * | to which a reply is sent                          | after `idle` without progress, as node:net sees it |
 *
 * It is ended without a word. An answer that nobody asked for is taken for that to the next request, which may be on its way; and without
 * the headers that let a page read it, a browser can only say that something failed, where it asks again if the connection is gone.
 */
import type http from "node:http";
import type { Socket } from "node:net";

/** What goes on at a connection. */
export interface Line {
  /** Requests whose reply is being made, and all that are not over: a client may send several at once. */
  making: number;
  open: number;
  /** The turn in which it began to wait for a request. */
  since: number;
}

export interface Watch {
  /** A request has come. */
  begin(socket: Socket): Line;
  /** It has been answered, or its client has left. */
  end(line: Line): void;
  stop(): void;
}

const HEADERS = 10_000; // ms
const TURNS = 10;

/** Milliseconds that the next request of a connection is waited for. */
export const waitFor = (idle: number): number => Math.min(HEADERS, idle);

/** Watches over the connections of a server. */
export function watchOver(server: http.Server, idle: number): Watch {
  const lines = new Map<Socket, Line>();
  let turn = 0;

  function judge(): void {
    turn++;
    for (const [socket, { open, since }] of lines) if (open === 0 && turn - since > TURNS) socket.destroy();
  }
  // setImmediate: when the sockets have been read.
  const clock = setInterval(() => setImmediate(judge), waitFor(idle) / TURNS).unref();

  function lineOf(socket: Socket): Line {
    const known = lines.get(socket);
    if (known !== undefined) return known;
    const line = { making: 0, open: 0, since: turn };
    lines.set(socket, line);
    socket.once("close", () => lines.delete(socket));
    return line;
  }

  server.on("connection", lineOf);
  server.setTimeout(idle, (socket) => {
    const { making, open } = lineOf(socket);
    if (open > 0 && making === 0) socket.destroy();
  });

  return {
    begin(socket) {
      const line = lineOf(socket);
      line.making++;
      line.open++;
      return line;
    },
    end(line) {
      line.open--;
      line.since = turn;
    },
    stop: () => clearInterval(clock),
  };
}
