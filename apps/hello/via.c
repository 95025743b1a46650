/* A first program of VIPL: ranks 0 and 1, 2 and 3 ... connect a virtual interface each and send
 * each other their numbers. For an even number of ranks. */
#include <stdio.h>
#include <string.h>

#include "fairlead/run/fairlead.h"
#include "fairlead/systems/via/vipl.h"

FAIRLEAD_FIBER_PROGRAM;

/* Registered memory: descriptors and data of a receive and a send. */
struct place {
  _Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR descriptors[2];
  unsigned data[2];
};

int main(void) {
  VIP_NIC_HANDLE nic = NULL;
  VIP_NIC_ATTRIBUTES its;
  VIP_VI_ATTRIBUTES attributes = {.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
                                  .MaxTransferSize = sizeof(unsigned)};
  VIP_MEM_ATTRIBUTES access = {NULL, VIP_FALSE, VIP_FALSE};
  VIP_MEM_HANDLE memory = 0;
  VIP_VI_HANDLE vi = NULL;
  VIP_DESCRIPTOR* done = NULL;
  _Alignas(8) char here[64], there[64], name[16];
  struct place place = {0};
  unsigned me = 0;
  if (VipOpenNic(NULL, &nic) != VIP_SUCCESS) return 1;
  VipQueryNic(nic, &its);
  memcpy(&me, its.LocalNicAddress + 4, sizeof me); /* behind the number of the host */
  VipCreatePtag(nic, &access.Ptag);
  VipRegisterMem(nic, &place, sizeof place, &access, &memory);
  for (int i = 0; i < 2; ++i) {
    place.descriptors[i].CS.SegCount = 1;
    place.descriptors[i].DS[0].Local.Data.Address = &place.data[i];
    place.descriptors[i].DS[0].Local.Handle = memory;
    place.descriptors[i].DS[0].Local.Length = sizeof(unsigned);
  }
  place.data[1] = me;
  attributes.Ptag = access.Ptag;
  VipCreateVi(nic, &attributes, NULL, NULL, &vi);
  VipPostRecv(vi, &place.descriptors[0], memory); /* before the other side can send */
  for (unsigned i = 0; i < 2; ++i) {
    snprintf(name, sizeof name, "%u", me ^ i);
    VipNSGetHostByName(nic, name, (VIP_NET_ADDRESS*)(i == 0 ? here : there), 0);
  }
  VipConnectPeerRequest(vi, (VIP_NET_ADDRESS*)here, (VIP_NET_ADDRESS*)there, VIP_INFINITE);
  const int good = VipConnectPeerWait(vi, NULL) == VIP_SUCCESS &&
                   VipPostSend(vi, &place.descriptors[1], memory) == VIP_SUCCESS &&
                   VipSendWait(vi, VIP_INFINITE, &done) == VIP_SUCCESS &&
                   VipRecvWait(vi, VIP_INFINITE, &done) == VIP_SUCCESS && place.data[0] == (me ^ 1);
  if (me == 0 && good) printf("rank %u has the number of rank %u\n", me, place.data[0]);
  VipDisconnect(vi);
  return !(
      VipDestroyVi(vi) == VIP_SUCCESS && VipDeregisterMem(nic, &place, memory) == VIP_SUCCESS &&
      VipDestroyPtag(nic, access.Ptag) == VIP_SUCCESS && VipCloseNic(nic) == VIP_SUCCESS && good);
}
