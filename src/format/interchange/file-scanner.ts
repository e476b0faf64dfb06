/** A scanner over a file of which it holds some, so that files of any size are scanned as those are that are held. */
import { concat } from "../../bytes/concat.js";
import type { ByteSource } from "./file.js";
import { Scanner } from "./text.js";

const NEWLINE = 10;
const WINDOW = 1 << 20; // bytes that are read at once

/** What is scanned together must be there before: `fill` brings it. */
export class FileScanner extends Scanner {
  readonly #source: ByteSource;
  /** Where in the file the first byte is that is held. */
  #start = 0;
  /** Nothing comes after what is held. */
  ended = false;

  constructor(source: ByteSource, where: string) {
    super({ bytes: new Uint8Array() }, where);
    this.#source = source;
  }

  /** Where in the file it is. */
  get place(): number {
    return this.#start + this.at;
  }

  /** The bytes from there to the end of the file. */
  get left(): number {
    return this.#source.size - this.place;
  }

  /** So many bytes are held, or all that there are. */
  async fill(count: number): Promise<void> {
    const { bytes, at } = this;
    if (this.ended || bytes.length - at >= count) return;
    const wanted = Math.max(count, WINDOW);
    const more = await this.#source.read(this.#start + bytes.length, wanted);
    this.bytes = at === bytes.length ? more : concat([bytes.subarray(at), more]);
    this.#start += at;
    this.at = 0;
    this.ended = more.length < wanted;
  }

  /** More than is held, where there is more. */
  more(): Promise<void> {
    return this.fill(this.bytes.length - this.at + 1);
  }

  /** These bytes, and on to what follows; fewer where the file ends. */
  async take(count: number): Promise<Uint8Array> {
    await this.fill(count);
    const taken = this.bytes.subarray(this.at, this.at + count);
    this.at += taken.length;
    return taken;
  }

  /** Past so many bytes, which may be more than there are. */
  pass(count: number): void {
    this.at += count;
    if (this.at <= this.bytes.length) return;
    this.#start += this.at;
    this.bytes = new Uint8Array();
    this.at = 0;
  }

  /** To the start of the next line; false where the file ends. */
  async nextLine(): Promise<boolean> {
    while (!this.ended && this.bytes.indexOf(NEWLINE, this.at) < 0) {
      this.at = this.bytes.length;
      await this.more();
    }
    if (!this.next()) await this.more();
    return this.at < this.bytes.length;
  }

  /** The place up to which words are whole in what is held; one that is longer than what is read at once is cut. */
  wholeWords(): number {
    const { bytes, at } = this;
    let end = bytes.length;
    if (this.ended) return end;
    while (end > at && bytes[end - 1]! > 32) end--;
    return end > at || bytes.length - at < WINDOW ? end : bytes.length;
  }
}
